import type { Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type Listed, listedRecord, NEWER, readRecord, type Stored } from '../resources/records.ts'
import type { Store } from '../resources/resource.ts'

/** Each agent's scopes are in a hash of their own; another hash says whose a scope is. */
export const scopeStore: Store<Scope> = {
  hashOf: ({ organization_id, agent_id }) => REDIS_KEYS.agentScopes(organization_id, agent_id),
  indexOf: ({ organization_id }) => REDIS_KEYS.scopeIndex(organization_id),
  indexFor: ({ actor }) => REDIS_KEYS.scopeIndex(actor.organization_id),
  find: ({ context: { redis }, actor: { organization_id } }, scope_id) =>
    findScope(redis, organization_id, scope_id),
  read: readScopes,
}

async function findScope(
  redis: RedisClient,
  organization_id: string,
  scope_id: string,
): Promise<Stored<Scope> | null> {
  const agent_id = await redis.hget(REDIS_KEYS.scopeOwners(organization_id), scope_id)
  if (agent_id === null) return null
  const scopes = REDIS_KEYS.agentScopes(organization_id, agent_id)
  return await readRecord<Scope>(redis, scopes, scope_id)
}

/** Null if there is none, or a newer version has stored it. */
export async function scopeOf(
  redis: RedisClient,
  organization_id: string,
  scope_id: string,
): Promise<Scope | null> {
  const [listed] = await readScopes(redis, organization_id, [scope_id])
  return listed === undefined || listed === NEWER ? null : listed
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
