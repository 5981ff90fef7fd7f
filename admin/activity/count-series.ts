import { eventRow } from '../../core/catalogue/events.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { ActivityFilter } from './activity-filter.ts'
import type { SeriesView } from './count-view.ts'
import type { Combination, CombinedMember } from './finished-counts.ts'
import { countRange, OTHER, readCounts, wholeSince } from './read-counts.ts'

export interface SeriesWish {
  readonly from_ms: number
  readonly to_ms: number
  readonly now_ms: number
  readonly step_s: number
  readonly by: CombinedMember | null
  readonly count: 'entries' | 'calls'
  /** Groups that are listed. */
  readonly groups: number
}

interface Group {
  readonly value: string | null
  total: number
  readonly counts: number[]
}

/** Counts of one organization over time. */
export async function countSeries(
  redis: RedisClient,
  organization_id: string,
  { equal }: Pick<ActivityFilter, 'equal'>,
  { from_ms, to_ms, now_ms, step_s, by, count, groups }: SeriesWish,
): Promise<SeriesView> {
  const since_s = await wholeSince(redis, organization_id)
  const range = countRange({ from_ms, to_ms }, { step_s, since_s, now_ms })
  const length = Math.max(0, (range.to_s - range.from_s) / range.step_s)
  const found = new Map<string | null, Group>()
  let exact = true
  const groupOf = (combination: Combination): Group | null => {
    if (!isWithin(combination, equal)) {
      if (isUnclear(combination, equal)) exact = false
      return null
    }
    if (count === 'calls' && eventRow(combination.event ?? '')?.reports_call !== true) return null
    const value = by === null ? null : combination[by]
    const group = found.get(value) ?? { value, total: 0, counts: zeros(length) }
    found.set(value, group)
    return group
  }
  const known = new Map<Combination, Group | null>()
  await readCounts(redis, organization_id, range, (start_s, combination, entries, calls) => {
    let group = known.get(combination)
    if (group === undefined) known.set(combination, (group = groupOf(combination)))
    if (group === null) return
    const number = count === 'calls' ? calls : entries
    group.total += number
    const at = Math.floor((start_s - range.from_s) / range.step_s)
    group.counts[at] = (group.counts[at] ?? 0) + number
  })
  const falling = [...found.values()].sort((a, b) => b.total - a.total)
  const named = falling.filter(({ value }) => value !== OTHER)
  const listed = named.slice(0, groups)
  const rest = falling.filter((group) => !listed.includes(group))
  const others = zeros(length).map((_, at) =>
    rest.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0),
  )
  return {
    from: new Date(range.from_s * 1000).toISOString(),
    to: new Date(Math.max(range.from_s, range.to_s) * 1000).toISOString(),
    step: range.step_s,
    by,
    count,
    exact: exact && !found.has(OTHER),
    archive: false,
    groups: listed,
    others,
  }
}

const zeros = (length: number): number[] => Array.from({ length }, () => 0)

export const isWithin = (combination: Combination, equal: ActivityFilter['equal']): boolean =>
  equal.every(([member, value]) => combination[member] === value)

/** Whether it may be within, because the agent or API of these entries was not counted. */
export const isUnclear = (combination: Combination, equal: ActivityFilter['equal']): boolean =>
  equal.every(([member, value]) => combination[member] === value || combination[member] === OTHER)
