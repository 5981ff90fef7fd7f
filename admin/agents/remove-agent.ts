import type { Agent, ApiKey, Connection, Scope } from '../../core/catalogue/model.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { forgetScopeConnection, removeConnections } from '../changes/connection-writes.ts'
import { readRecords } from '../resources/records.ts'
import type { Removed } from '../resources/resource.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict } from '../http/outcome.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

/** Deletes the agent with its keys, ends its calls in flight and, with ?cascade=true, deletes its scopes. Its id is never reused. */
export async function removeAgent(
  { context, actor, query }: AdminCall<unknown, { cascade?: boolean }>,
  agent: Agent,
): Promise<Removed<Agent> | Refusal> {
  const { redis, now } = context
  const org = actor.organization_id
  const { agent_id } = agent
  const scopes = await redis.hvals(REDIS_KEYS.agentScopes(org, agent_id))
  if (scopes.length > 0 && query.cascade !== true)
    return conflict(
      'in_use',
      'The agent has scopes. Delete them first, or repeat the request with ?cascade=true.',
      { scopes: scopes.length },
    )
  const key_ids = await redis.zrange(REDIS_KEYS.apiKeyIndex(org, agent_id), '0', '-1')
  const keys = await readRecords<ApiKey>(redis, REDIS_KEYS.apiKeys(org), key_ids)
  const connections = await connectionsOf(redis, org, agent_id)
  const removedKeys = removeKeys(
    org,
    agent_id,
    keys.filter((key) => key !== null),
  )
  const removedScopes = removeScopes(
    org,
    agent_id,
    scopes.map((text) => parseRecord<Scope>(text)),
  )
  return {
    kind: 'removed',
    guards: [
      ['ZCARD', REDIS_KEYS.apiKeyIndex(org, agent_id), '', String(key_ids.length)],
      ['HLEN', REDIS_KEYS.agentScopes(org, agent_id), '', String(scopes.length)],
      ...connections.guards,
      ...removedKeys.guards,
    ],
    writes: [
      ['HSET', REDIS_KEYS.agentTombstones(org), agent_id, agent.revision],
      ['HDEL', REDIS_KEYS.agentLastSeen(org), agent_id],
      ['HDEL', REDIS_KEYS.agentLastPath(org), agent_id],
      ['HDEL', REDIS_KEYS.agentLabels(org), agent_id],
      ...removedKeys.writes,
      ...removedScopes,
      ...removeConnections(org, connections.own),
    ],
    targets: [
      ...removedKeys.targets,
      ...(connections.own.length === 0
        ? []
        : [{ what: 'integrations', organization_id: org } as const]),
      ...endCalls(agent, now()),
    ],
    note: {
      keys: keys.length,
      scopes: scopes.length,
      ...(connections.own.length === 0 ? {} : { connections: connections.own.length }),
    },
  }
}

/** Calls in flight are cut as by a kill, since a deleted agent can no longer be killed. A killed agent has none. */
const endCalls = (
  { organization_id, agent_id, status, revision }: Agent,
  now: Date,
): ControlTarget[] =>
  status === 'killed'
    ? []
    : [
        {
          what: 'kill',
          organization_id,
          agent_id,
          revision: revision + 1,
          killed_at: now.toISOString(),
        },
      ]

function removeKeys(
  org: string,
  agent_id: string,
  keys: readonly ApiKey[],
): { guards: Guard[]; writes: Write[]; targets: ControlTarget[] } {
  const guards: Guard[] = []
  const writes: Write[] = [['DEL', REDIS_KEYS.apiKeyIndex(org, agent_id)]]
  const targets: ControlTarget[] = []
  for (const { key_id, hash } of keys) {
    guards.push(['ZSCORE', REDIS_KEYS.apiKeyIndex(org, agent_id), key_id, true])
    writes.push(
      ['HDEL', REDIS_KEYS.apiKeys(org), key_id],
      ['HDEL', REDIS_KEYS.apiKeyLastUsed(org), key_id],
      ['HDEL', REDIS_KEYS.apiKeyHashes, hash],
    )
    targets.push({ what: 'key', hash })
  }
  return { guards, writes, targets }
}

function removeScopes(org: string, agent_id: string, scopes: readonly Scope[]): Write[] {
  const writes: Write[] = [['DEL', REDIS_KEYS.agentScopes(org, agent_id)]]
  for (const { scope_id, integration_id, connection_id = null } of scopes)
    writes.push(
      ['HDEL', REDIS_KEYS.scopeOwners(org), scope_id],
      ['ZREM', REDIS_KEYS.scopeIndex(org), scope_id],
      ['HDEL', REDIS_KEYS.integrationScopes(org, integration_id), scope_id],
      ...forgetScopeConnection({ organization_id: org, scope_id, connection_id }),
    )
  return writes
}

/** The connections of the agent, which end with it. */
async function connectionsOf(
  redis: RedisClient,
  org: string,
  agent_id: string,
): Promise<{
  readonly guards: readonly Guard[]
  readonly own: readonly (readonly [connection_id: string, integration_id: string])[]
}> {
  const texts = await redis.hvals(REDIS_KEYS.connections(org))
  const own = texts
    .map((text) => parseRecord<Connection>(text))
    .filter(({ subject }) => subject === `agent:${agent_id}`)
    .map(({ connection_id, integration_id }) => [connection_id, integration_id] as const)
  return { guards: [['ZCARD', REDIS_KEYS.connectionIndex(org), '', String(texts.length)]], own }
}
