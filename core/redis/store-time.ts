import type { RedisClient } from './run-script.ts'

/**
 * The time of the store, in whole ms since 1970.
 * @throws (rejects) when it does not answer
 */
export async function storeTimeMs(redis: Pick<RedisClient, 'time'>): Promise<number> {
  const [seconds, micros] = await redis.time()
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
}
