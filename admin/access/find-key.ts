import { hashKey } from '../../core/keys/api-key.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

/** The stored key, in force or not; null if there is none. */
export async function findKey(redis: RedisClient, text: string): Promise<ApiKey | null> {
  const found = await runScript(
    redis,
    'find-key',
    [REDIS_KEYS.apiKeyHashes],
    [hashKey(text), REDIS_KEYS.apiKeys('')],
  )
  return typeof found === 'string' ? parseRecord<ApiKey>(found) : null
}
