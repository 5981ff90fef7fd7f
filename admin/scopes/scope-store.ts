import type { Scope } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type Listed, listedRecord, readRecord } from '../resources/records.ts'
import type { Store } from '../resources/resource.ts'

/** Each agent's scopes are in a hash of their own; another hash says whose a scope is. */
export const scopeStore: Store<Scope> = {
  hashOf: ({ organization_id, agent_id }) => REDIS_KEYS.agentScopes(organization_id, agent_id),
  indexOf: ({ organization_id }) => REDIS_KEYS.scopeIndex(organization_id),
  indexFor: ({ actor }) => REDIS_KEYS.scopeIndex(actor.organization_id),
  find: async ({ context: { redis }, actor: { organization_id } }, scope_id) => {
    const agent_id = await redis.hget(REDIS_KEYS.scopeOwners(organization_id), scope_id)
    if (agent_id === null) return null
    const scopes = REDIS_KEYS.agentScopes(organization_id, agent_id)
    return await readRecord<Scope>(redis, scopes, scope_id)
  },
  read: readScopes,
}

async function readScopes(
  redis: RedisClient,
  organization_id: string,
  scope_ids: readonly string[],
): Promise<Listed<Scope>[]> {
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
  return texts.map((text) => listedRecord<Scope>(text))
}
