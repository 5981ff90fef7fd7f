import type { TSchema } from 'typebox'
import { TIME_MESSAGE } from './read-time.ts'

/** An error of the validator. `schemaPath` is a JSON pointer (`#/properties/name`) to the schema that says no. */
export interface SchemaError {
  readonly keyword: string
  readonly schemaPath: string
  readonly instancePath: string
  readonly params: object
}

/** A schema with a pattern states in this member, in words, what the pattern requires. */
export const PATTERN_MESSAGE = 'x-message'

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  integer: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
}

const count = (limit: unknown, one: string): string =>
  `${String(limit)} ${limit === 1 ? one : `${one}s`}`

/** The number of a limit, for its message. */
const LIMITS: Readonly<Record<string, (limit: unknown) => string>> = {
  minLength: (limit) =>
    limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'character')}`,
  maxLength: (limit) => `must have at most ${count(limit, 'character')}`,
  minItems: (limit) =>
    limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${count(limit, 'item')}`,
  minProperties: (limit) => `must have at least ${count(limit, 'member')}`,
  maxProperties: (limit) => `must have at most ${count(limit, 'member')}`,
  minimum: (limit) => `must be at least ${String(limit)}`,
  maximum: (limit) => `must be at most ${String(limit)}`,
  exclusiveMinimum: (limit) => `must be more than ${String(limit)}`,
  exclusiveMaximum: (limit) => `must be less than ${String(limit)}`,
  multipleOf: (limit) => `must be a multiple of ${String(limit)}`,
}

/** The problem with a value, in words; null if another error of the same value covers it. */
export function describeProblem(schema: TSchema, error: SchemaError): string | null {
  const { keyword } = error
  const params = error.params as Readonly<Record<string, unknown>>
  switch (keyword) {
    // For a nullable member, the error of the non-null schema is enough.
    case 'boolean':
    case 'anyOf':
      return null
    case 'type':
      return params['type'] === 'null' ? null : (TYPES[String(params['type'])] ?? OTHER)
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'enum':
      return mustBeOneOf(params['allowedValues'] as readonly unknown[])
    case 'uniqueItems':
      return 'must not have the same item twice'
    case 'format':
      return params['format'] === 'date-time' ? TIME_MESSAGE : OTHER
    case 'pattern': {
      const says = (schemaAt(schema, error.schemaPath) as Record<string, unknown> | undefined)?.[
        PATTERN_MESSAGE
      ]
      return typeof says === 'string' ? says : OTHER
    }
    default:
      return LIMITS[keyword]?.(params['limit'] ?? params['multipleOf']) ?? OTHER
  }
}

const OTHER = 'does not have an allowed form'

export const mustBeOneOf = (values: readonly unknown[]): string =>
  `must be one of ${values.map(String).join(', ')}`

function schemaAt(schema: TSchema, pointer: string): unknown {
  let found: unknown = schema
  for (const part of pointer.split('/').slice(1)) {
    if (typeof found !== 'object' || found === null) return undefined
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    found = (found as Record<string, unknown>)[name]
  }
  return found
}
