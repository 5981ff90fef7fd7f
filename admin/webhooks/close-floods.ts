import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { outboxKeys } from '../../core/change/outbox-keys.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'

const BATCH = 100
/** The minute after looks whether this one had refusals. */
const KEPT_S = 180
const FLOOD = /^(\S+) (.+) (\d+)$/

/**
 * Sends the last rate_limit_exceeded of every minute that is over, with the number of those that were not sent:
 * the ones held back here, and the ones that edges only counted. Returns how many went out.
 */
export async function closeFloods(redis: RedisClient, now: Date): Promise<number> {
  const names = await redis.zrangebyscore(
    REDIS_KEYS.rateFloods,
    '-inf',
    now.getTime(),
    'LIMIT',
    0,
    BATCH,
  )
  const closed = await Promise.all(names.map((name) => closeFlood(redis, name)))
  return closed.filter(Boolean).length
}

async function closeFlood(redis: RedisClient, name: string): Promise<boolean> {
  const [, organization_id = '', agent_id = '', minute = ''] = FLOOD.exec(name) ?? []
  const key = REDIS_KEYS.rateFlood(name)
  const [count, text, firstWasSent] = await redis.hmget(key, 'count', 'entry', 'first_was_sent')
  if (!count || !text) {
    await redis.zrem(REDIS_KEYS.rateFloods, name)
    return false
  }
  const counts = REDIS_KEYS.refusalCounts(organization_id, Number(minute))
  const onlyCounted = Number(await redis.hget(counts, `${agent_id} rate_limit_exceeded`))
  const sent = firstWasSent ? 2 : 1
  const entry = JSON.parse(text) as ActivityEntry
  const suppressed = Math.max(0, Number(count) + onlyCounted - sent)
  const event = { ...entry, data: { ...entry.data, suppressed } }
  const written = await runScript(
    redis,
    'close-flood',
    [REDIS_KEYS.rateFloods, key, ...outboxKeys(organization_id)],
    [name, count, organization_id, JSON.stringify(event), KEPT_S],
  )
  return written === 1
}
