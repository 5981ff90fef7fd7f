import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { timeOfActivityId } from '../../core/activity/activity-id.ts'
import { unpackBlock } from '../../core/activity/unpack-block.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScriptBuffer } from '../../core/redis/run-script.ts'
import { WRITTEN_AFTER_MAX_MS } from './activity-filter.ts'
import { readStoredEntry } from './read-stored-entry.ts'
import type { SearchParts } from './search-activity.ts'
import { searchArchive } from './search-archive.ts'

/** How far the clock of an edge may be ahead of the store's, and how long an entry may wait for the store. */
const CLOCK_AHEAD_MAX_MS = 60_000
const WAITED_MAX_MS = 600_000
const CANDIDATES_MAX = 512

/** Nearly every entry is written within this time. */
const SOON_MS = 2_000
const ARCHIVE_BUDGET_MS = 2_000

/**
 * An entry by its id, which contains its approximate time; null if it is neither in the log nor in its archive, and `unknown` if
 * the part of the archive where it would be could not be searched.
 */
export async function findEntry(
  { redis, archive, nowMs }: Pick<SearchParts, 'redis' | 'archive' | 'nowMs'>,
  organization_id: string,
  id: string,
): Promise<ActivityEntry | 'unknown' | null> {
  const made_ms = timeOfActivityId(id)
  if (made_ms === null || !Number.isSafeInteger(made_ms + WAITED_MAX_MS)) return null
  const stored = await findStored(redis, organization_id, id, made_ms)
  if (stored !== null || !archive) return stored
  const filter = { equal: [], request_id: null, q: id, to_ms: null }
  const end_ms = nowMs() + ARCHIVE_BUDGET_MS
  let isSearched = true
  for (const waited_ms of [SOON_MS, WAITED_MAX_MS]) {
    const { found, next, skipped_hours } = await searchArchive(
      archive,
      organization_id,
      // A place within the range is that of an entry with a time from this on.
      { ...filter, from_ms: made_ms - WRITTEN_AFTER_MAX_MS },
      { before: `${made_ms + waited_ms}-0`, limit: CANDIDATES_MAX, nowMs, end_ms },
    )
    const entry = found.find((one) => one.entry.id === id)?.entry
    if (entry !== undefined) return entry
    isSearched = next === null && skipped_hours.length === 0
  }
  return isSearched ? null : 'unknown'
}

async function findStored(
  redis: RedisClient,
  organization_id: string,
  id: string,
  made_ms: number,
): Promise<ActivityEntry | null> {
  const look = (from: string, to: string): Promise<ActivityEntry | null> =>
    lookIn(redis, organization_id, id, { from, to, made_ms })
  // Most entries are written within milliseconds, so the search begins there. Then come entries that waited, then those with a wrong clock.
  const made = `${made_ms}-0`
  return (
    (await look(made, `${made_ms + WAITED_MAX_MS}-0`)) ??
    (await look(`${Math.max(0, made_ms - CLOCK_AHEAD_MAX_MS)}-0`, `(${made}`))
  )
}

async function lookIn(
  redis: RedisClient,
  organization_id: string,
  id: string,
  range: { readonly from: string; readonly to: string; readonly made_ms: number },
): Promise<ActivityEntry | null> {
  const member = `"id":${JSON.stringify(id)}`
  const key = REDIS_KEYS.activity(organization_id)
  for (let next = range.from; next !== ''; ) {
    const args = [next, range.to, CANDIDATES_MAX, member, range.made_ms]
    const answer = await runScriptBuffer(redis, 'find-entry', [key], args)
    const [last = EMPTY, value] = answer as Buffer[]
    const isFound = last.length === 0 && value !== undefined
    if (isFound) return readStoredEntry(value.toString())
    const text =
      value === undefined ? undefined : unpackBlock(value).find((one) => one.includes(member))
    if (text !== undefined) return readStoredEntry(text)
    next = last.length === 0 ? '' : `(${last.toString()}`
  }
  return null
}

const EMPTY = Buffer.alloc(0)
