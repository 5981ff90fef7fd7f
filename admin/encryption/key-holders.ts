import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { storeTimeMs } from '../../core/redis/store-time.ts'

/** A running process and the ids of the encryption keys that it has. */
export interface KeyHolder {
  readonly process: string
  readonly key_ids: readonly string[]
}

interface StoredHolder {
  readonly key_ids: readonly string[]
  readonly seen_ms: number
}

/** An admin process says every two seconds which keys it has; after this it has stopped. */
const FORGET_MS = 10_000

export async function noteHolder(
  redis: RedisClient,
  process: string,
  key_ids: readonly string[],
): Promise<void> {
  const holder: StoredHolder = { key_ids, seen_ms: await storeTimeMs(redis) }
  await redis.hset(REDIS_KEYS.keyHolders, process, JSON.stringify(holder))
}

export const forgetHolder = async (redis: RedisClient, process: string): Promise<void> => {
  await redis.hdel(REDIS_KEYS.keyHolders, process)
}

/** Every live edge and admin process. Edges of an older version do not say which keys they have. */
export async function keyHolders(redis: RedisClient, lease_ms: number): Promise<KeyHolder[]> {
  const [edges, fields, now_ms] = await Promise.all([
    liveEdgeRecords(redis, lease_ms),
    redis.hgetall(REDIS_KEYS.keyHolders),
    storeTimeMs(redis),
  ])
  const holders = edges.map(({ record }) => ({
    process: `edge ${record.edge_id}`,
    key_ids: record.key_ids ?? [],
  }))
  for (const [process, text] of Object.entries(fields)) {
    const { key_ids, seen_ms } = JSON.parse(text) as StoredHolder
    if (now_ms - seen_ms < FORGET_MS) holders.push({ process, key_ids })
    else await forgetHolder(redis, process)
  }
  return holders
}
