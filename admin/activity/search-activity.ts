import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { hasIndex, indexName, REQUEST_INDEX } from '../../core/activity/activity-index.ts'
import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'
import { LogRow, type PlacedText } from '../../core/activity/log-row.ts'
import { requestHash } from '../../core/activity/request-hash.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScriptBuffer } from '../../core/redis/run-script.ts'
import { oldestPlace } from './oldest-place.ts'
import { readStoredEntry } from './read-stored-entry.ts'
import type { ArchiveHours } from '../context/archive-hours.ts'
import { searchArchive } from './search-archive.ts'
import {
  type ActivityFilter,
  matchesFilter,
  mayHold,
  rawText,
  roughFilter,
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
  /** The position of the next, older page; null at the end of the log and of its archive. */
  readonly next: string | null
  /** Down to when this page and those before it have looked; null if there is nothing. */
  readonly searched_to_ms: number | null
  /** Hours of the archive that this page could not look into. */
  readonly skipped_hours: readonly string[]
}

/** A script blocks the store; this many candidates take about one millisecond. */
const CANDIDATES_MAX = 256
/** Bytes of blocks after which a call of the script returns: some thousand entries. */
const BYTES_MAX = 256 * 1024
/** About the size of an entry in a block. */
const ENTRY_BYTES = 128
/**
 * Rows that are not yet in an index are all candidates. With fewer a step, a page of one entry would use up its time on
 * the way through the newest rows.
 */
const CANDIDATES_MIN = 64
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
  /** What is older than the log; null if there is no archive here. */
  readonly archive?: ArchiveHours | null
}

/**
 * Entries of one organization that match a filter, newest first, before the position `before` (null: from the newest).
 * A page ends with what was looked at, never in between, so that following `next` meets each entry exactly once; what
 * is written meanwhile is newer and is not met.
 */
export async function searchActivity(
  { redis, nowMs, budget_ms, archive = null }: SearchParts,
  organization_id: string,
  filter: ActivityFilter,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ActivityPage> {
  const { equal, request_id, status = null, q, from_ms, to_ms } = filter
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
  // Every candidate from an index matches, so that about a page of candidates is enough.
  const isSelective =
    q === null &&
    request_id === null &&
    status === null &&
    to_ms === null &&
    equal.length < 2 &&
    indexed.length === equal.length
  const hash = request_id === null ? '' : requestHash(request_id)
  const text = rawText(q ?? request_id?.toLowerCase() ?? null)
  const rough = roughFilter(filter)
  const end_ms =
    nowMs() + (budget_ms ?? (request_id === null ? SEARCH_BUDGET_MS : REQUEST_BUDGET_MS))
  const found: Placed[] = []
  let place = earlier(before, to_ms === null ? null : `${to_ms + WRITTEN_AFTER_MAX_MS}-0`)
  for (;;) {
    const rest = limit - found.length
    const wanted = indexed.length === 0 ? rest : Math.max(rest, CANDIDATES_MIN)
    const candidates = isSelective ? Math.min(wanted, CANDIDATES_MAX) : CANDIDATES_MAX
    const bytes = isSelective ? wanted * ENTRY_BYTES : BYTES_MAX
    const args = [place ?? '+', lower, candidates, text, hash, bytes]
    const answer = await runScriptBuffer(redis, 'search-activity', keys, args)
    const [last, ...rows] = answer as Buffer[]
    const next = last === undefined || last.length === 0 ? null : last.toString()
    for (const { place: at, text: one } of entriesBelow(place, rows)) {
      if (!mayHold(rough, one)) continue
      const entry = readStoredEntry(one)
      if (!matchesFilter(filter, entry, msOfPlace(at))) continue
      found.push({ place: at, entry })
      if (found.length === limit) return pageTo(found, at)
    }
    if (next === null) break
    place = next
    if (nowMs() > end_ms) return pageTo(found, next)
  }
  // Read after the search: what was trimmed meanwhile and had been found is left out below.
  const oldest = await oldestPlace(redis, organization_id)
  const seam = [oldest, found.at(-1)?.place ?? null].reduce(earlier, place)
  const oldest_ms = oldest === null ? null : msOfPlace(oldest)
  if (archive === null) return { ...pageTo(found, null), searched_to_ms: since(from_ms, oldest_ms) }
  const left = { before: seam, limit: limit - found.length, nowMs, end_ms }
  const older = await searchArchive(archive, organization_id, filter, left)
  const searched_to_ms =
    older.next === null ? since(from_ms, older.oldest_ms ?? oldest_ms) : msOfPlace(older.next)
  return { ...older, found: [...found, ...older.found], searched_to_ms }
}

const pageTo = (found: readonly Placed[], next: string | null): ActivityPage => ({
  found,
  next,
  searched_to_ms: next === null ? null : msOfPlace(next),
  skipped_hours: [],
})

/** Nothing older was asked for, or exists. */
const since = (from_ms: number | null, oldest_ms: number | null): number | null =>
  oldest_ms === null ? null : Math.max(from_ms ?? oldest_ms, oldest_ms)

/** The entries of the rows that the script returned, the newest first. A block is expanded when it is reached. */
function* entriesBelow(before: string | null, rows: readonly Buffer[]): Generator<PlacedText> {
  for (let i = 0; i + 2 < rows.length; i += 3) {
    const [id, kind, value] = rows.slice(i, i + 3) as [Buffer, Buffer, Buffer]
    for (const placed of new LogRow([id, [kind, value]]).entries().toReversed())
      if (before === null || comparePlaces(placed.place, before) < 0) yield placed
  }
}

/** The older of two positions; null is newer than all. */
function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return comparePlaces(a, b) < 0 ? a : b
}
