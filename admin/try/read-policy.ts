import { storedKilledAt } from '../../core/decision/stored-killed-at.ts'
import {
  type Agent,
  type Connection,
  EVERYWHERE,
  type Integration,
  type Lock,
  type Organization,
  type Scope,
  type UnlistedHosts,
} from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readConnection } from '../../core/store/read-connection.ts'
import { scopeTextsOf } from '../labels/selected.ts'
import { lapsedGrants } from '../requests/lapsed-grants.ts'
import { readRecord } from '../resources/records.ts'
import { type Formatted, parseRecord } from '../../core/store/stored-record.ts'

/** What decides the calls of an agent, as it is stored. */
export interface StoredPolicy {
  readonly agent: Agent | null
  readonly killed_at: string | null
  readonly scopes: readonly Scope[]
  /** Those of a newer version too: as on an edge, they are matched, but calls to them are refused. */
  readonly integrations: readonly (Integration & Formatted)[]
  readonly connections: readonly Connection[]
  /** Of the organization, for agents that do not say otherwise. */
  readonly unlisted_hosts: UnlistedHosts
  /** Of the organization, and of everything. */
  readonly locks: readonly Lock[]
}

export async function readPolicy(
  redis: RedisClient,
  organization_id: string,
  agent_id: string,
  now: Date,
): Promise<StoredPolicy> {
  const [agent, organization, integrationTexts, connectionTexts, locks, lockedAll] =
    await Promise.all([
      readRecord<Agent>(redis, REDIS_KEYS.agents(organization_id), agent_id),
      readRecord<Organization>(redis, REDIS_KEYS.organizations, organization_id),
      redis.hvals(REDIS_KEYS.integrations(organization_id)),
      redis.hvals(REDIS_KEYS.connections(organization_id)),
      redis.hvals(REDIS_KEYS.locks(organization_id)),
      redis.hvals(REDIS_KEYS.locks(EVERYWHERE)),
    ])
  const record = agent?.record ?? null
  const scopeTexts =
    record === null ? [] : await scopeTextsOf(redis, organization_id, agent_id, record.labels)
  // As on an edge, a kill has ended what an approval has made.
  const scopes = scopeTexts
    .map((text) => parseRecord<Scope>(text))
    .filter(({ grant }) => grant === undefined || grant.agent_revision === record?.revision)
  const lapsed = await lapsedGrants(redis, organization_id, scopes, integrationTexts, now)
  const expires_at = now.toISOString()
  return {
    agent: record,
    killed_at: record === null ? null : storedKilledAt(record),
    scopes: scopes.map((scope) => (lapsed.has(scope.scope_id) ? { ...scope, expires_at } : scope)),
    integrations: integrationTexts.map((text) => JSON.parse(text) as Integration & Formatted),
    connections: connectionTexts.map(readConnection),
    unlisted_hosts: organization?.record.unlisted_hosts ?? 'refuse',
    locks: [...locks, ...lockedAll].map((text) => JSON.parse(text) as Lock),
  }
}
