import { isObject } from './section-resources.ts'

/**
 * Metadata as a merge patch can produce it: null removes a member, so a null member counts as absent.
 * Members are sorted by name; numbers are those of JSON.
 */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => JSON.parse(JSON.stringify(item)) as unknown)
  if (!isObject(value)) return value === undefined ? value : JSON.parse(JSON.stringify(value))
  const kept = Object.entries(value)
    .map(([name, member]) => [name, withoutNulls(member)] as const)
    .filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)))
}
