import { chunksOf } from '../../core/system/chunks-of.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** Keys that one command removes. */
const CHUNK = 500

export interface Traces {
  readonly key_hashes: readonly string[]
  readonly token_hashes: readonly string[]
  readonly lock_ids: readonly string[]
}

/** Removes the remaining data of a deleted organization: the hashes of its keys and all Redis keys with its name. */
export async function removeTraces(redis: RedisClient, org: string, traces: Traces): Promise<void> {
  for (const some of chunksOf(traces.key_hashes, CHUNK))
    await redis.hdel(REDIS_KEYS.apiKeyHashes, ...some)
  for (const some of chunksOf(traces.token_hashes, CHUNK))
    await redis.hdel(REDIS_KEYS.adminTokenHashes, ...some)
  for (const some of chunksOf(traces.lock_ids, CHUNK)) {
    await redis.hdel(REDIS_KEYS.lockPlaces, ...some)
    await redis.zrem(REDIS_KEYS.lockEnds, ...some)
  }
  // The kind of a key comes before the organization, so an agent that is called like one has no key that fits.
  const own = new RegExp(`^\\{agw\\}:[a-z-]+:${org}(:|$)`)
  for await (const found of redis.scanStream({ match: `*:${org}*`, count: 1000 })) {
    const keys = (found as string[]).filter((key) => own.test(key))
    for (const some of chunksOf(keys, CHUNK)) await redis.unlink(...some)
  }
}
