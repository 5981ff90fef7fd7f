import type { Scope } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readRecord, type Stored } from '../lists/records.ts'

export async function findScope(
  redis: RedisClient,
  organization_id: string,
  scope_id: string,
): Promise<Stored<Scope> | null> {
  const agent_id = await redis.hget(REDIS_KEYS.scopeOwners(organization_id), scope_id)
  if (agent_id === null) return null
  return await readRecord<Scope>(redis, REDIS_KEYS.agentScopes(organization_id, agent_id), scope_id)
}

/** In the order of the ids, which may be of several agents; null where there is none. */
export async function findScopes(
  redis: RedisClient,
  organization_id: string,
  scope_ids: readonly string[],
): Promise<(Scope | null)[]> {
  if (scope_ids.length === 0) return []
  const owners = await redis.hmget(REDIS_KEYS.scopeOwners(organization_id), ...scope_ids)
  const texts = await Promise.all(
    scope_ids.map((scope_id, i) => {
      const owner = owners[i]
      return owner == null
        ? Promise.resolve(null)
        : redis.hget(REDIS_KEYS.agentScopes(organization_id, owner), scope_id)
    }),
  )
  return texts.map((text) => (text === null ? null : (JSON.parse(text) as Scope)))
}
