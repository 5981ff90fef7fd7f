import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { hasIndex, indexName, REQUEST_INDEX } from '../../core/activity/activity-index.ts'
import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'
import { LogRow, type PlacedText } from '../../core/activity/log-row.ts'
import { requestHash } from '../../core/activity/request-hash.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScriptBuffer } from '../../core/redis/run-script.ts'
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
/** Bytes of blocks after which a call of the script returns: some thousand entries. */
const BYTES_MAX = 256 * 1024
/** About the size of an entry in a block. */
const ENTRY_BYTES = 128
/** A search with few results returns after this time with what it has and a cursor. */
const SEARCH_BUDGET_MS = 45
/**
 * The same for a search by request id, which finds one call and is not continued by hand. It reads its index in steps
 * between which other requests are served; by the cost of a step, this is enough for about a million refusals.
 */
const REQUEST_BUDGET_MS = 2_000

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
  { redis, nowMs, budget_ms }: SearchParts,
  organization_id: string,
  filter: ActivityFilter,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ActivityPage> {
  const { equal, request_id, q, from_ms, to_ms } = filter
  const indexed = equal.filter(([member, value]) => hasIndex(member, value))
  const keys = [
    REDIS_KEYS.activity(organization_id),
    REDIS_KEYS.activityDigest(organization_id),
    REDIS_KEYS.activityIndex(organization_id, REQUEST_INDEX),
    ...indexed.map(([member, value]) =>
      REDIS_KEYS.activityIndex(organization_id, indexName(member, value)),
    ),
  ]
  const lower = from_ms === null ? '-' : `${Math.max(0, from_ms - WRITTEN_BEFORE_MAX_MS)}-0`
  // If every candidate matches, one page of candidates is enough.
  const isSelective =
    q === null &&
    request_id === null &&
    to_ms === null &&
    equal.length < 2 &&
    indexed.length === equal.length
  const hash = request_id === null ? '' : requestHash(request_id)
  const text = rawText(q ?? request_id?.toLowerCase() ?? null)
  const mayMatch = roughFilter(filter)
  const started_ms = nowMs()
  const limit_ms = budget_ms ?? (request_id === null ? SEARCH_BUDGET_MS : REQUEST_BUDGET_MS)
  const found: Placed[] = []
  let place = earlier(before, to_ms === null ? null : `${to_ms + WRITTEN_AFTER_MAX_MS}-0`)
  for (;;) {
    const wanted = limit - found.length
    const candidates = isSelective ? Math.min(wanted, CANDIDATES_MAX) : CANDIDATES_MAX
    const bytes = isSelective ? wanted * ENTRY_BYTES : BYTES_MAX
    const args = [place ?? '+', lower, candidates, text, hash, bytes]
    const answer = await runScriptBuffer(redis, 'search-activity', keys, args)
    const [last, ...rows] = answer as Buffer[]
    const next = last === undefined || last.length === 0 ? null : last.toString()
    for (const { place: at, text: one } of entriesBelow(place, rows)) {
      if (!mayMatch(one)) continue
      const entry = readStoredEntry(one)
      if (!matchesFilter(filter, entry, msOfPlace(at))) continue
      found.push({ place: at, entry })
      if (found.length === limit) return { found, next: at }
    }
    if (next === null) return { found, next: null }
    place = next
    if (nowMs() - started_ms > limit_ms) return { found, next }
  }
}

/** The entries of the rows that the script returned, the newest first. A block is expanded when it is reached. */
function* entriesBelow(before: string | null, rows: readonly Buffer[]): Generator<PlacedText> {
  for (let i = 0; i + 2 < rows.length; i += 3) {
    const [id, kind, value] = rows.slice(i, i + 3) as [Buffer, Buffer, Buffer]
    for (const placed of new LogRow([id, [kind, value]]).entries().toReversed())
      if (before === null || comparePlaces(placed.place, before) < 0) yield placed
  }
}

/**
 * Whether the JSON of an entry may match, without parsing it. Only texts that JSON writes as they are can be looked for.
 */
function roughFilter({ equal, request_id, q }: ActivityFilter): (text: string) => boolean {
  const named = equal.filter(([member, value]) => hasIndex(member, value))
  const wanted = [...named, ...(request_id === null ? [] : [['request_id', request_id] as const])]
    .filter(([, value]) => rawText(value) !== '')
    .map(([member, value]) => `"${member}":"${value}"`)
  const inside = rawText(q)
  return (text) =>
    wanted.every((one) => text.includes(one)) &&
    (inside === '' || text.toLowerCase().includes(inside))
}

/** The older of two positions; null is newer than all. */
function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return comparePlaces(a, b) < 0 ? a : b
}
