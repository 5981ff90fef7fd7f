import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { UNCLEAN } from '../../core/credential/text-forms.ts'
import { PATTERN_MESSAGE } from './describe-problem.ts'
import { TIME_MESSAGE, TIME_PATTERN } from './read-time.ts'

/** Text for people: no control characters, no half surrogate pairs, at least one visible character. */
const NAME_LENGTH_LIMIT = 200
export const Name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_LIMIT,
  pattern: `^(?=\\s*\\S)[^${UNCLEAN}]*$`,
  [PATTERN_MESSAGE]: 'must have a visible character and no control characters',
})

export const Id = (description: string) => Type.String({ description, maxLength: 1200 })
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })

export const Warnings = Type.Array(Type.String(), {
  description:
    'Only in the answer of a change: which of its addresses the egress filter refuses, and the setting that allows them.',
})
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** Visible ASCII without a comma, by which proxies join headers. */
export const USER_PATTERN = '[\\x21-\\x2b\\x2d-\\x7e]{1,200}'

/** A user as a caller names it in `X-Agw-User`. */
export const User = Type.String({
  pattern: `^${USER_PATTERN}$`,
  [PATTERN_MESSAGE]: 'must be 1 to 200 visible ASCII characters without spaces and commas',
})

/** An object that takes no member but these. */
export const Strict = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** The path of an agent and of what belongs to it. */
export const AgentParams = Strict({ agent_id: Id('agent_id') })

/** A time as a caller gives it; `readTime` reads it. */
export const TimeText = (description: string) =>
  Type.String({
    maxLength: 40,
    pattern: TIME_PATTERN,
    [PATTERN_MESSAGE]: TIME_MESSAGE,
    description: `${description}: ISO 8601 with Z or an offset`,
  })

/** `readFutureTime` judges whether it is to come. */
export const FutureTime = TimeText('A time in the future')

export const Count = Type.Integer({ minimum: 0 })

/** Items of a page. */
export const LIST_DEFAULT = 50
export const LIST_LIMIT = 200

export type PageQuery = Static<TObject<typeof PageQuery>>
export const PageQuery = {
  cursor: Type.Optional(
    Type.String({ maxLength: 300, description: 'next_cursor of the previous page' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_LIMIT, default: LIST_DEFAULT })),
}

export const ListOf = <T extends TSchema>(item: T) =>
  Strict({
    data: Type.Array(item),
    next_cursor: Nullable(Type.String()),
    unreadable: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Ids of resources that belong to this page and are not shown, because a newer version has stored them. An admin service of that version shows them.',
      }),
    ),
  })

export const Cascade = Strict({
  cascade: Type.Optional(
    Type.Boolean({ default: false, description: 'Also deletes dependent resources.' }),
  ),
})
export const Empty = Type.Null()
