/**
 * JSON merge patch (RFC 7396) on one resource. Two extensions: `whole` members are replaced and not merged,
 * and null in a `nullable` member is a value, not the default.
 */
export function mergePatch(
  current: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
  special: { readonly whole: readonly string[]; readonly nullable: readonly string[] },
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...current }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null && !special.nullable.includes(name)) delete merged[name]
    else if (isObject(value) && !special.whole.includes(name)) {
      const below = isObject(merged[name]) ? merged[name] : {}
      merged[name] = mergePatch(below, value, special)
    } else merged[name] = value
  }
  return merged
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
