import type { ApiKey } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** A key as the API shows it: without the key and its hash. */
export function keyView(key: ApiKey, last_used_ms: number | null): Record<string, unknown> {
  const { key_id, agent_id, last4, name, agent_ids, uses, created_at } = key
  const { expires_at, revoked_at, revoked_by } = key
  const last_used_at = last_used_ms === null ? null : new Date(last_used_ms).toISOString()
  return {
    key_id,
    agent_id,
    last4,
    name,
    agent_ids,
    uses,
    created_at,
    last_used_at,
    expires_at,
    revoked_at,
    revoked_by,
  }
}

export async function keyViews(
  redis: RedisClient,
  organization_id: string,
  keys: readonly ApiKey[],
): Promise<Record<string, unknown>[]> {
  if (keys.length === 0) return []
  const ids = keys.map(({ key_id }) => key_id)
  const times = await redis.hmget(REDIS_KEYS.apiKeyLastUsed(organization_id), ...ids)
  return keys.map((key, i) => keyView(key, times[i] == null ? null : Number(times[i])))
}
