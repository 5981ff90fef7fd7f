import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { indexName, isExactIndex } from '../../core/activity/activity-index.ts'
import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { readStoredEntry } from './read-stored-entry.ts'
import {
  type ActivityFilter,
  matchesFilter,
  rawText,
  WRITTEN_AFTER_MAX_MS,
  WRITTEN_BEFORE_MAX_MS,
} from './activity-filter.ts'

/** An entry and its position in the log: its id in the stream. */
export interface Placed {
  readonly place: string
  readonly entry: ActivityEntry
}

export interface ActivityPage {
  readonly found: readonly Placed[]
  /** The position of the next, older page; null at the end of the log. */
  readonly next: string | null
}

/** A script blocks the store; this many candidates take about one millisecond. */
const CANDIDATES_MAX = 256
/** A search with few results returns after this time with what it has and a cursor. */
export const SEARCH_BUDGET_MS = 45

export interface SearchParts {
  readonly redis: RedisClient
  /** Monotonic. */
  readonly nowMs: () => number
  readonly budget_ms?: number
}

/**
 * Entries of one organization that match a filter, newest first, before the position `before` (null: from the newest).
 * A page ends with what was looked at, never in between, so that following `next` meets each entry exactly once; what
 * is written meanwhile is newer and is not met.
 */
export async function searchActivity(
  { redis, nowMs, budget_ms = SEARCH_BUDGET_MS }: SearchParts,
  organization_id: string,
  filter: ActivityFilter,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ActivityPage> {
  const { equal, q, from_ms, to_ms } = filter
  const keys = [
    REDIS_KEYS.activity(organization_id),
    REDIS_KEYS.activityDigest(organization_id),
    ...equal.map(([member, value]) =>
      REDIS_KEYS.activityIndex(organization_id, indexName(member, value)),
    ),
  ]
  const lower = from_ms === null ? '-' : `${Math.max(0, from_ms - WRITTEN_BEFORE_MAX_MS)}-0`
  // If every candidate matches, one page of candidates is enough.
  const isSelective =
    q === null &&
    to_ms === null &&
    equal.length < 2 &&
    equal.every(([member]) => isExactIndex(member))
  const inexact = equal.find(([member]) => !isExactIndex(member))?.[1].toLowerCase() ?? null
  const text = rawText(q ?? inexact)
  const started_ms = nowMs()
  const found: Placed[] = []
  let place = earlier(before, to_ms === null ? null : `${to_ms + WRITTEN_AFTER_MAX_MS}-0`)
  for (;;) {
    const wanted = limit - found.length
    const candidates = isSelective ? Math.min(wanted, CANDIDATES_MAX) : CANDIDATES_MAX
    const args = [place ?? '+', lower, candidates, text]
    const [last = '', ...rows] = (await runScript(redis, 'search-activity', keys, args)) as string[]
    for (let i = 0; i + 1 < rows.length; i += 2) {
      const at = rows[i] ?? ''
      const entry = readStoredEntry(rows[i + 1] ?? '')
      if (!matchesFilter(filter, entry, msOfPlace(at))) continue
      found.push({ place: at, entry })
      if (found.length === limit) return { found, next: at }
    }
    if (last === '') return { found, next: null }
    place = last
    if (nowMs() - started_ms > budget_ms) return { found, next: last }
  }
}

/** The older of two positions; null is newer than all. */
function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return comparePlaces(a, b) < 0 ? a : b
}
