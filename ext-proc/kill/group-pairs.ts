import { chunksOf } from '../../core/system/chunks-of.ts'

/** Ids by organization, for reads of at most so many at a time. */
export function groupPairs(
  pairs: readonly (readonly [organization_id: string, id: string])[],
  per_read: number,
): (readonly [organization_id: string, ids: readonly string[]])[] {
  const byOrganization = new Map<string, string[]>()
  for (const [organization_id, id] of pairs) {
    const ids = byOrganization.get(organization_id)
    if (ids === undefined) byOrganization.set(organization_id, [id])
    else ids.push(id)
  }
  return [...byOrganization].flatMap(([organization_id, all]) =>
    [...chunksOf(all, per_read)].map((ids) => [organization_id, ids] as const),
  )
}
