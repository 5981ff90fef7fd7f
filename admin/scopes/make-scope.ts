import type { Static } from 'typebox'
import { mintId } from '../../core/keys/api-key.ts'
import { type Agent, SCOPE_DEFAULTS, type Scope, SELECTED } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { mergePatch } from '../resources/merge-patch.ts'
import { readRecord } from '../resources/records.ts'
import type { Made } from '../resources/resource.ts'
import { checkInput } from '../http/check-input.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Issue, type Refusal, invalid } from '../http/outcome.ts'
import { canonicalScope } from './canonical-scope.ts'
import { checkOwners, countAffected } from './check-owners.ts'
import { checkerOf, checkPatterns } from './check-patterns.ts'
import { checkScopeSettings } from './check-scope-settings.ts'
import { planEndNotice } from './scope-ends.ts'
import { checkScopeConnection } from './scope-connection.ts'
import { EditableScope, type NewScope, SCOPE_NULLABLE, SCOPE_WHOLE } from './scope-schemas.ts'

export async function makeScope(
  call: AdminCall<unknown, unknown, Static<typeof NewScope>>,
  scope_id = mintId('scp'),
): Promise<Made<Scope> | Refusal> {
  const { context, actor, body } = call
  const { redis, settings, now } = context
  const org = actor.organization_id
  // Selected or named is not decided by the ids: a caller could send the one that stands for a selection.
  const { confirm_affected, agent_id: agent_named, integration_id: api_named, ...members } = body
  const special = { whole: SCOPE_WHOLE, nullable: SCOPE_NULLABLE }
  const checked = checkInput(EditableScope, mergePatch(SCOPE_DEFAULTS, members, special))
  if (!checked.ok) return invalid(checked.issues)
  const edited = canonicalScope(checked.value)
  const agents = REDIS_KEYS.agents(org)
  const integrations = REDIS_KEYS.integrations(org)
  const [agent, integration] = await Promise.all([
    agent_named === undefined ? null : readRecord<Agent>(redis, agents, agent_named),
    api_named === undefined ? 1 : redis.hexists(integrations, api_named),
  ])
  const issues: Issue[] = [
    ...checkOwners({ agent_id: agent_named, integration_id: api_named }, edited),
    ...checkScopeSettings(edited, settings.maxBodyBytes),
  ]
  if (agent === null && agent_named !== undefined)
    issues.push({ path: '/agent_id', message: 'no agent has this id' })
  if (integration === 0)
    issues.push({ path: '/integration_id', message: 'no integration has this id' })
  if (issues.length > 0) return invalid(issues)
  const refused = await checkPatterns(edited.injection_detection, checkerOf(call))
  if (refused !== null) return refused
  const scope: Scope = {
    scope_id,
    organization_id: org,
    agent_id: agent_named ?? SELECTED,
    integration_id: api_named ?? SELECTED,
    ...edited,
    created_at: now().toISOString(),
  }
  const connected = await checkScopeConnection(redis, scope, null)
  if (connected.kind === 'refusal') return connected
  const counted = await countAffected(redis, scope, null, confirm_affected)
  if (counted.kind === 'refusal') return counted
  const { affected_agents } = counted
  return {
    kind: 'made',
    record: scope,
    guards: [
      ...(agent_named === undefined ? [] : [['HGET', agents, agent_named, true] as const]),
      ...(api_named === undefined ? [] : [['HGET', integrations, api_named, true] as const]),
      ...connected.guards,
    ],
    writes: [
      ['HSET', REDIS_KEYS.scopeOwners(org), scope_id, scope.agent_id],
      ['HSET', REDIS_KEYS.integrationScopes(org, scope.integration_id), scope_id, scope.agent_id],
      ...connected.writes,
      ...planEndNotice(scope, null, now()),
    ],
    about: { agent_name: agent?.record.agent_name ?? null },
    effects: affected_agents === null ? null : { affected_agents },
  }
}
