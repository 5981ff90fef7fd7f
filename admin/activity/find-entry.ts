import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { timeOfActivityId } from '../../core/activity/activity-id.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { readStoredEntry } from './read-stored-entry.ts'

/** How far the clock of an edge may be ahead of the store's, and how long an entry may wait for the store. */
const CLOCK_AHEAD_MAX_MS = 60_000
const WAITED_MAX_MS = 600_000
const CANDIDATES_MAX = 512

/** An entry by its id, which contains its approximate time; null if it is not in the log. */
export async function findEntry(
  redis: RedisClient,
  organization_id: string,
  id: string,
): Promise<ActivityEntry | null> {
  const made_ms = timeOfActivityId(id)
  if (made_ms === null || !Number.isSafeInteger(made_ms + WAITED_MAX_MS)) return null
  const key = REDIS_KEYS.activity(organization_id)
  // Most entries are written within milliseconds, so the search begins there. Then come entries that waited, then those with a wrong clock.
  const made = `${made_ms}-0`
  return (
    (await look(redis, key, id, made, `${made_ms + WAITED_MAX_MS}-0`)) ??
    (await look(redis, key, id, `${Math.max(0, made_ms - CLOCK_AHEAD_MAX_MS)}-0`, `(${made}`))
  )
}

async function look(
  redis: RedisClient,
  key: string,
  id: string,
  from: string,
  to: string,
): Promise<ActivityEntry | null> {
  for (let next = from; next !== ''; ) {
    const [last, text] = (await runScript(
      redis,
      'find-entry',
      [key],
      [next, to, CANDIDATES_MAX, `"id":${JSON.stringify(id)}`],
    )) as [string, string?]
    if (text !== undefined) return readStoredEntry(text)
    next = last === '' ? '' : `(${last}`
  }
  return null
}
