import { chunksOf } from '../../core/system/chunks-of.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { MINUTE_S, MINUTES_KEPT_S } from './count-buckets.ts'

/** Of a store that has a limit, the logs take at most this share, so that kills and keys have room (threat model, rule 21). */
const SHARE_OF_STORE = 0.5
/** Nodes of a stream that are sampled to estimate its size. */
const SAMPLES = 20
/** Trimmed to slightly below the budget, so that it is not trimmed with every entry. */
const TRIM_TO = 0.95
const BUCKETS_PER_COMMAND = 200
/** Indexes of one log that one call trims, and those that it trims at a time: a log has one for each agent. */
const INDEXES_PER_CALL = 1_000
const INDEXES_AT_ONCE = 100

export interface Retention {
  readonly max_bytes: number
  readonly retention_ms: number
}

/**
 * Keeps the logs of all organizations within their bytes and their age, and tells the writers the budget of one, which
 * they keep to while no admin process runs. The largest logs give way first.
 *
 * @param cursors where the next call goes on to trim indexes, by organization
 */
export async function keepWithinBudget(
  redis: RedisClient,
  organization_ids: readonly string[],
  { max_bytes, retention_ms }: Retention,
  now_ms: number,
  cursors: Map<string, string>,
): Promise<void> {
  const total = Math.min(max_bytes, (await storeLimit(redis)) * SHARE_OF_STORE)
  const sizes = await Promise.all(organization_ids.map((org) => bytesOf(redis, org)))
  const budget = fairLimit(sizes, total)
  await redis.set(REDIS_KEYS.activityBudget, Math.floor(budget))
  for (const [i, organization_id] of organization_ids.entries()) {
    const key = REDIS_KEYS.activity(organization_id)
    const bytes = sizes[i] ?? 0
    await redis.xtrim(key, 'MINID', '~', `${Math.max(0, now_ms - retention_ms)}-0`)
    if (bytes > budget) {
      const keep = Math.floor((await redis.xlen(key)) * (budget / bytes) * TRIM_TO)
      await redis.xtrim(key, 'MAXLEN', '~', keep)
    }
    const [oldest] = await redis.xrange(key, '-', '+', 'COUNT', 1)
    if (oldest !== undefined) await trimIndexes(redis, organization_id, oldest[0], cursors)
    await trimCounts(redis, organization_id, oldest?.[0], now_ms)
  }
}

/** The largest limit per log with which all logs stay within the total. */
export function fairLimit(sizes: readonly number[], total: number): number {
  const rising = [...sizes].sort((a, b) => a - b)
  let left = total
  for (const [i, size] of rising.entries()) {
    const share = left / (rising.length - i)
    if (size > share) return share
    left -= size
  }
  // All fit: each may use the remaining space.
  return (rising.at(-1) ?? 0) + left
}

/** @param oldest the first place of the log */
async function trimIndexes(
  redis: RedisClient,
  organization_id: string,
  oldest: string,
  cursors: Map<string, string>,
): Promise<void> {
  const indexes = REDIS_KEYS.activityIndexes(organization_id)
  const digest = REDIS_KEYS.activityDigest(organization_id)
  const cursor = cursors.get(organization_id) ?? '0'
  const [next, names] = await redis.sscan(indexes, cursor, 'COUNT', INDEXES_PER_CALL)
  cursors.set(organization_id, next)
  const trim = (name: string): Promise<unknown> => {
    const keys = [REDIS_KEYS.activityIndex(organization_id, name), indexes, digest] as const
    return runScript(redis, 'trim-activity-index', keys, [oldest, name])
  }
  for (const some of chunksOf(names, INDEXES_AT_ONCE)) await Promise.all(some.map(trim))
}

/** Counts of a time that the log no longer holds, and those by the minute when they are old. */
async function trimCounts(
  redis: RedisClient,
  organization_id: string,
  oldest: string | undefined,
  now_ms: number,
): Promise<void> {
  const buckets = REDIS_KEYS.activityCountBuckets(organization_id)
  const oldest_s = oldest === undefined ? now_ms / 1000 : msOfPlace(oldest) / 1000
  const minutes_s = now_ms / 1000 - MINUTES_KEPT_S
  const ended = await redis.zrangebyscore(
    buckets,
    '-inf',
    Math.floor(Math.max(oldest_s, minutes_s)),
    'WITHSCORES',
  )
  const over = ended.filter((bucket, at) => {
    const end_s = Number(ended[at + 1])
    if (at % 2 === 1) return false
    return end_s <= oldest_s || (end_s <= minutes_s && bucket.startsWith(`${MINUTE_S}:`))
  })
  for (const some of chunksOf(over, BUCKETS_PER_COMMAND)) {
    await redis.unlink(some.map((bucket) => REDIS_KEYS.activityCounts(organization_id, bucket)))
    await redis.zrem(buckets, ...some)
  }
}

async function bytesOf(redis: RedisClient, organization_id: string): Promise<number> {
  const key = REDIS_KEYS.activity(organization_id)
  return Number((await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', SAMPLES)) ?? 0)
}

/** Infinite if the store has no limit or hides it. */
async function storeLimit(redis: RedisClient): Promise<number> {
  const info = await redis.info('memory').catch(() => '')
  const bytes = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0)
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY
}
