import { type TProperties, type TSchema, Type } from 'typebox'

/**
 * The schema of a merge patch (RFC 7396) on an object: every member may be left out or null. Members of `read_only`
 * may be repeated unchanged. The merged resource is validated by its full schema.
 */
export function patchOf(
  schema: TSchema & { readonly properties?: TProperties },
  read_only: readonly string[],
  whole: readonly string[],
): TSchema {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const nested = member as TSchema & { readonly properties?: TProperties }
    const patch =
      nested.properties !== undefined && !whole.includes(name) ? patchOf(nested, [], []) : member
    return [name, Type.Optional(Type.Union([patch, Type.Null()]))] as const
  })
  const kept = read_only.map(
    (name) =>
      [
        name,
        Type.Optional(
          Type.Unknown({ description: 'Read-only. If present, it must have its current value.' }),
        ),
      ] as const,
  )
  return Type.Object(Object.fromEntries([...kept, ...members]), { additionalProperties: false })
}
