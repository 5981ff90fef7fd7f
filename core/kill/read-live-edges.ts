import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'

/** The edges that may hold a lease: an edge counts its own from before the beat that is stored here. */
export async function readLiveEdges(parts: {
  readonly redis: RedisClient
  readonly lease_ms: number
}): Promise<ReadonlySet<string>> {
  const { redis, lease_ms } = parts
  const [seconds, micros] = await redis.time()
  const now_ms = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  const from_ms = now_ms - lease_ms - LEASE_MARGIN_MS
  return new Set(await redis.zrangebyscore(REDIS_KEYS.edgeBeats, from_ms, '+inf'))
}
