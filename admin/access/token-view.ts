import type { AdminToken } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** What a reader of the API sees of an admin token: never the token and never its hash. */
export function tokenView(token: AdminToken, last_used_ms: number | null): Record<string, unknown> {
  const { token_id, organization_id, email, role, name, last4, created_at, expires_at } = token
  const last_used_at = last_used_ms === null ? null : new Date(last_used_ms).toISOString()
  return {
    token_id,
    organization_id,
    email,
    role,
    name,
    last4,
    created_at,
    last_used_at,
    expires_at,
  }
}

export async function tokenViews(
  redis: RedisClient,
  organization_id: string,
  tokens: readonly AdminToken[],
): Promise<Record<string, unknown>[]> {
  if (tokens.length === 0) return []
  const ids = tokens.map(({ token_id }) => token_id)
  const times = await redis.hmget(REDIS_KEYS.adminTokenLastUsed(organization_id), ...ids)
  return tokens.map((token, i) => tokenView(token, times[i] == null ? null : Number(times[i])))
}
