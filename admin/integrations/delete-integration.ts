import type { ControlTarget } from '../../core/control/control-message.ts'
import type { Integration } from '../../core/model.ts'
import type { Guard, Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readRecord } from '../lists/records.ts'
import type { Call } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { NO_CONTENT, type Outcome, conflict, notFound } from '../http/outcome.ts'
import { CASCADE_SCOPES_LIMIT } from './integration-schemas.ts'
import { integrationView } from './integration-view.ts'

export async function deleteIntegration(
  call: Call<{ integration_id: string }, { cascade?: boolean }>,
): Promise<Outcome> {
  const { context, actor, params, query, headers } = call
  const { redis, ring } = context
  const org = actor.organization_id
  const integrations = REDIS_KEYS.integrations(org)
  const stored = await readRecord<Integration>(redis, integrations, params.integration_id)
  if (stored === null) return notFound()
  const stale = checkPrecondition(headers, stored.text)
  if (stale !== null) return stale
  const { integration_id, base_url } = stored.record
  const users = REDIS_KEYS.integrationScopes(org, integration_id)
  const owners = Object.entries(await redis.hgetall(users))
  if (owners.length > 0 && query.cascade !== true)
    return conflict(
      'in_use',
      'Scopes use this integration. Delete them first, or repeat this with ?cascade=true.',
      { scopes: owners.length },
    )
  if (owners.length > CASCADE_SCOPES_LIMIT)
    return conflict(
      'too_many_scopes',
      `More than ${CASCADE_SCOPES_LIMIT} scopes use this integration. Delete some of them first.`,
    )
  const removed = removeScopes(org, users, owners)
  return {
    kind: 'plan',
    guards: [
      ['HGET', integrations, integration_id, stored.text],
      ['HLEN', users, '', String(owners.length)],
      ...removed.guards,
    ],
    writes: [
      ['HDEL', integrations, integration_id],
      ['ZREM', REDIS_KEYS.integrationIndex(org), integration_id],
      ['HDEL', REDIS_KEYS.integrationBaseUrls(org), base_url],
      ['DEL', users],
      ...removed.writes,
    ],
    targets: [{ what: 'integrations', organization_id: org }, ...removed.targets],
    audit: {
      action: 'integration.delete',
      target: integration_id,
      before: { ...integrationView(ring, stored.record), scopes: owners.length },
      after: null,
      integration_id,
    },
    answer: NO_CONTENT,
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
    (agent_id): ControlTarget => ({ what: 'agent', organization_id: org, agent_id }),
  )
  return { guards, writes, targets }
}
