import { viaOf } from '../../core/activity/via-of.ts'
import { COMBINED_MEMBERS } from './activity-tally.ts'
import type { ActivityFilter } from './activity-filter.ts'
import { MINUTE_S, QUARTER_S, TWO_HOURS_S } from './count-buckets.ts'
import type { FacetsView } from './count-view.ts'
import { isUnclear, isWithin } from './count-series.ts'
import type { Combination, CombinedMember } from './finished-counts.ts'
import { countRange, OTHER, readCounts, wholeSince } from './read-counts.ts'
import { type SearchParts, searchActivity } from './search-activity.ts'

/** Values of a member that are listed. */
const VALUES_MAX = 50
/** A shorter range is counted by the minute. */
const BY_MINUTE_MS = 6 * 3_600_000
/** A text has no counts: this many of the newest entries that hold it are counted, for at most this long. */
const TEXT_ENTRIES_MAX = 2_000
const TEXT_BUDGET_MS = 150
const TEXT_PAGE = 200

interface FacetRange {
  readonly from_ms: number
  readonly to_ms: number
  readonly now_ms: number
}

/** How many entries of one organization each value of each member has. */
export async function countFacets(
  parts: SearchParts,
  organization_id: string,
  filter: ActivityFilter,
  within: FacetRange,
): Promise<FacetsView> {
  const counts = new FacetCounts(filter.equal)
  const { from_ms, to_ms, now_ms } = within
  const since_s = await wholeSince(parts.redis, organization_id)
  const hasCounts =
    filter.q === null && filter.request_id === null && (filter.status ?? null) === null
  if (!hasCounts) {
    const own = { ...filter, from_ms: Math.max(from_ms, since_s * 1000), to_ms }
    // As far back as the counts of other filters.
    await countFound({ ...parts, archive: null }, organization_id, own, counts)
    return counts.view(Math.min(own.from_ms, to_ms), to_ms)
  }
  const step_s = to_ms - from_ms <= BY_MINUTE_MS ? MINUTE_S : QUARTER_S
  const read = countRange({ from_ms, to_ms }, { step_s, since_s, now_ms })
  // Facets have no points, so the longest buckets will do.
  const shortest_s = read.buckets_s.at(-1) ?? QUARTER_S
  const buckets_s = [TWO_HOURS_S, QUARTER_S, MINUTE_S].filter((own_s) => own_s >= shortest_s)
  const range = { ...read, buckets_s }
  const totals = new Map<Combination, number>()
  await readCounts(parts.redis, organization_id, range, (_, combination, entries) =>
    totals.set(combination, (totals.get(combination) ?? 0) + entries),
  )
  for (const [combination, entries] of totals) counts.add(combination, entries)
  return counts.view(read.from_s * 1000, Math.max(read.from_s, read.to_s) * 1000)
}

async function countFound(
  parts: SearchParts,
  organization_id: string,
  filter: ActivityFilter,
  counts: FacetCounts,
): Promise<void> {
  const started_ms = parts.nowMs()
  let before: string | null = null
  for (let found = 0; ; ) {
    const page = await searchActivity(parts, organization_id, filter, { before, limit: TEXT_PAGE })
    for (const { entry } of page.found) counts.add({ ...entry, via: viaOf(entry) }, 1)
    found += page.found.length
    before = page.next
    if (before === null) return
    if (found >= TEXT_ENTRIES_MAX || parts.nowMs() - started_ms > TEXT_BUDGET_MS) break
  }
  counts.isExact = false
}

class FacetCounts {
  isExact = true
  #total = 0
  readonly #equal: ActivityFilter['equal']
  readonly #values = new Map<CombinedMember, Map<string | null, number>>()
  readonly #others = new Map<CombinedMember, ActivityFilter['equal']>()

  constructor(equal: ActivityFilter['equal']) {
    this.#equal = equal
    for (const member of COMBINED_MEMBERS) {
      this.#values.set(member, new Map())
      this.#others.set(
        member,
        equal.filter(([own]) => own !== member),
      )
    }
  }

  add(combination: Combination, entries: number): void {
    if (isWithin(combination, this.#equal)) this.#total += entries
    else if (isUnclear(combination, this.#equal)) this.isExact = false
    for (const member of COMBINED_MEMBERS) {
      if (!isWithin(combination, this.#others.get(member) ?? [])) continue
      const values = this.#values.get(member)
      const value = combination[member]
      values?.set(value, (values.get(value) ?? 0) + entries)
    }
  }

  view(from_ms: number, to_ms: number): FacetsView {
    const listed = COMBINED_MEMBERS.map((member) => {
      const values = [...(this.#values.get(member) ?? [])]
      if (values.some(([value]) => value === OTHER)) this.isExact = false
      const named = values.filter(([value]) => value !== OTHER)
      return [
        member,
        named
          .sort(([, a], [, b]) => b - a)
          .slice(0, VALUES_MAX)
          .map(([value, count]) => ({ value, count })),
      ]
    })
    return {
      from: new Date(from_ms).toISOString(),
      to: new Date(to_ms).toISOString(),
      total: this.#total,
      exact: this.isExact,
      archive: false,
      facets: Object.fromEntries(listed) as FacetsView['facets'],
    }
  }
}
