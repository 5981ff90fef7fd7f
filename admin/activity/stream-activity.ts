import type { Writable } from 'node:stream'
import { entriesAfter } from '../../core/activity/entries-after.ts'
import { readLog } from '../../core/activity/read-log.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { waitForReader } from '../http/wait-for-reader.ts'
import type { ActivityFeed } from '../context/activity-feed.ts'
import { type ActivityFilter, matchesFilter } from './activity-filter.ts'
import { activityView } from './activity-view.ts'
import { readStoredEntry } from './read-stored-entry.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'

const READ_MAX = 50
/**
 * Regular comments keep proxies from closing an idle stream, and detect clients that have disconnected. A comment says that the
 * store answers, so a client that receives none for two intervals knows that it may be missing entries.
 */
const HEARTBEAT_MS = 2_000
/** The reconnection time of the event stream format. */
const RETRY_MS = 1_000

/** The place that is older than all that come: the newest of the log, or its beginning while it is empty. */
export async function newestPlace(redis: RedisClient, organization_id: string): Promise<string> {
  const [row] = await redis.xrevrange(REDIS_KEYS.activity(organization_id), '+', '-', 'COUNT', 1)
  return row?.[0] ?? '0-0'
}

/**
 * Writes the entries after a place as server-sent events, the old ones first, then those that come. The id of an event
 * is its place, so that a client resumes where it was. A slow client is waited for and then reads from the log; nothing
 * is kept for it.
 */
export async function streamActivity(
  parts: {
    readonly redis: RedisClient
    readonly feed: NonNullable<ReturnType<ActivityFeed['follow']>>
  },
  organization_id: string,
  filter: ActivityFilter,
  {
    after,
    out,
    ended,
  }: { readonly after: string; readonly out: Writable; readonly ended: AbortSignal },
): Promise<void> {
  const { redis, feed } = parts
  const write = async (text: string): Promise<void> => {
    if (out.write(text) || ended.aborted) return
    await waitForReader(out, ended)
  }
  let isAsking = false
  const heartbeat = setInterval(() => {
    // While the store is unavailable the first question waits, and no others are asked.
    if (isAsking || out.writableNeedDrain) return
    isAsking = true
    redis
      .ping()
      .then(() => ended.aborted || out.write(':\n\n'))
      .catch(() => false)
      .finally(() => {
        isAsking = false
      })
  }, HEARTBEAT_MS)
  const aborted = whenAborted(ended)
  try {
    // The id alone, so that a client that loses the stream before its first event misses nothing either.
    await write(`retry: ${RETRY_MS}\nid: ${after}\n\n`)
    for (let place = after; !ended.aborted; ) {
      const { rows, has_more } = await readLog(redis, organization_id, place, READ_MAX)
      for (const { place: at, text } of entriesAfter(place, rows)) {
        place = at
        const entry = readStoredEntry(text)
        if (matchesFilter(filter, entry, msOfPlace(at)))
          await write(
            `id: ${at}\nevent: ${entry.event}\ndata: ${JSON.stringify(activityView(entry))}\n\n`,
          )
      }
      if (!has_more) await Promise.race([feed.changed(place), aborted])
    }
  } catch (error) {
    if (!ended.aborted) throw error
  } finally {
    clearInterval(heartbeat)
    feed.leave()
  }
}

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
