import type { ControlTarget } from '../../core/control/control-message.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict } from '../http/outcome.ts'
import type { Removed } from '../resources/resource.ts'
import { removeConnections } from '../changes/connection-writes.ts'
import { claimChanges } from './integration-claims.ts'
import { scopeTarget } from '../scopes/scope-target.ts'
import { CASCADE_SCOPES_LIMIT } from './integration-schemas.ts'

export async function removeIntegration(
  { context: { redis }, actor, query }: AdminCall<unknown, { cascade?: boolean }>,
  integration: Integration,
): Promise<Removed<Integration> | Refusal> {
  const org = actor.organization_id
  const { integration_id } = integration
  const users = REDIS_KEYS.integrationScopes(org, integration_id)
  const ofIntegration = REDIS_KEYS.integrationConnections(org, integration_id)
  const connections = await redis.hkeys(ofIntegration)
  const owners = Object.entries(await redis.hgetall(users))
  if (owners.length > 0 && query.cascade !== true)
    return conflict(
      'in_use',
      'Scopes use this integration. Delete them first, or repeat the request with ?cascade=true.',
      { scopes: owners.length },
    )
  if (owners.length > CASCADE_SCOPES_LIMIT)
    return conflict(
      'too_many_scopes',
      `More than ${CASCADE_SCOPES_LIMIT} scopes use this integration. Delete some of them first.`,
    )
  if (connections.length > 0 && query.cascade !== true)
    return conflict(
      'in_use',
      'The integration has connections. Delete them first, or repeat the request with ?cascade=true.',
      { connections: connections.length },
    )
  const removed = removeScopes(org, users, owners)
  return {
    kind: 'removed',
    guards: [
      ['HLEN', users, '', String(owners.length)],
      ['HLEN', ofIntegration, '', String(connections.length)],
      ...removed.guards,
    ],
    writes: [
      ...claimChanges(integration, null).writes,
      ['DEL', users],
      ...removed.writes,
      ...removeConnections(
        org,
        connections.map((id) => [id, integration_id]),
      ),
    ],
    targets: removed.targets,
    note: {
      scopes: owners.length,
      ...(connections.length === 0 ? {} : { connections: connections.length }),
    },
  }
}

function removeScopes(
  org: string,
  users: string,
  owners: readonly (readonly [scope_id: string, agent_id: string])[],
): { guards: Guard[]; writes: Write[]; targets: ControlTarget[] } {
  const guards: Guard[] = owners.map(([scope_id, agent_id]) => ['HGET', users, scope_id, agent_id])
  const writes = owners.flatMap(([scope_id, agent_id]): Write[] => [
    ['HDEL', REDIS_KEYS.agentScopes(org, agent_id), scope_id],
    ['HDEL', REDIS_KEYS.scopeOwners(org), scope_id],
    ['ZREM', REDIS_KEYS.scopeIndex(org), scope_id],
  ])
  const agents = new Set(owners.map(([, agent_id]) => agent_id))
  const targets = [...agents].map(
    (agent_id): ControlTarget => scopeTarget({ organization_id: org, agent_id }),
  )
  return { guards, writes, targets }
}
