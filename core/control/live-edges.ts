import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** The edges whose last heartbeat is at most this old, by the clock of Redis, with its age in ms. */
export async function liveEdges(
  redis: RedisClient,
  max_age_ms: number,
): Promise<ReadonlyMap<string, number>> {
  const [seconds, micros] = await redis.time()
  const now_ms = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  const texts = await redis.zrangebyscore(
    REDIS_KEYS.edgeBeats,
    now_ms - max_age_ms,
    '+inf',
    'WITHSCORES',
  )
  const ages = new Map<string, number>()
  for (let i = 0; i + 1 < texts.length; i += 2)
    ages.set(String(texts[i]), Math.max(0, now_ms - Number(texts[i + 1])))
  return ages
}
