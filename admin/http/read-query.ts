import type { TSchema } from 'typebox'

/**
 * Converts query values to the types of their schema: integers and booleans. Other values stay text,
 * for the schema to validate.
 */
export function readQuery(schema: TSchema, query: unknown): unknown {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { type?: string }>> }
  return Object.fromEntries(
    Object.entries(query as Record<string, unknown>).map(([name, value]) => {
      const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
      if (type === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value))
        return [name, Number(value)]
      if (type === 'boolean' && (value === 'true' || value === 'false'))
        return [name, value === 'true']
      return [name, value]
    }),
  )
}
