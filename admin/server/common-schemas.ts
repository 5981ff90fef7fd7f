import { type TProperties, type TSchema, Type } from 'typebox'
import { LIST_DEFAULT, LIST_LIMIT } from '../lists/list-page.ts'

/** Text for people: no control characters, no half surrogate pairs, at least one visible character. */
export const NAME_LENGTH_LIMIT = 200
export const Name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_LIMIT,
  pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]*$',
})

export const Id = (description: string) => Type.String({ description, maxLength: 1200 })
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** An object that takes no member but these. */
export const Strict = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** A time to come, as a caller gives it; `readFutureTime` judges it. */
export const FutureTime = Type.String({
  maxLength: 40,
  description: 'A time to come: ISO 8601 with Z or an offset',
})

export const PageQuery = {
  cursor: Type.Optional(
    Type.String({ maxLength: 300, description: 'next_cursor of the page before' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_LIMIT, default: LIST_DEFAULT })),
}

export const ListOf = <T extends TSchema>(item: T) =>
  Strict({ data: Type.Array(item), next_cursor: Nullable(Type.String()) })

export const Cascade = Strict({
  cascade: Type.Optional(
    Type.Boolean({ default: false, description: 'Deletes what depends on it as well.' }),
  ),
})
export const Empty = Type.Null()
