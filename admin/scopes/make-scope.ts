import type { Static } from 'typebox'
import { mintId } from '../../core/api-key.ts'
import { type Agent, SCOPE_DEFAULTS, type Scope, SELECTED } from '../../core/model.ts'
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
import { EditableScope, type NewScope, SCOPE_NULLABLE, SCOPE_WHOLE } from './scope-schemas.ts'

export async function makeScope(
  call: AdminCall<unknown, unknown, Static<typeof NewScope>>,
  scope_id = mintId('scp'),
): Promise<Made<Scope> | Refusal> {
  const { context, actor, body } = call
  const { redis, settings, now } = context
  const org = actor.organization_id
  const { confirm_affected, ...wanted } = body
  const special = { whole: SCOPE_WHOLE, nullable: SCOPE_NULLABLE }
  const { agent_id: _agent, integration_id: _integration, ...members } = wanted
  const checked = checkInput(EditableScope, mergePatch(SCOPE_DEFAULTS, members, special))
  if (!checked.ok) return invalid(checked.issues)
  const edited = canonicalScope(checked.value)
  const { agent_id = SELECTED, integration_id = SELECTED } = body
  const ids = { agent_id: body.agent_id, integration_id: body.integration_id }
  // Not by the ids, of which a caller could send the one that stands for a selection.
  const isSelected = {
    agent: ids.agent_id === undefined,
    integration: ids.integration_id === undefined,
  }
  const [agent, integration] = await Promise.all([
    isSelected.agent ? null : readRecord<Agent>(redis, REDIS_KEYS.agents(org), agent_id),
    isSelected.integration ? 1 : redis.hexists(REDIS_KEYS.integrations(org), integration_id),
  ])
  const issues: Issue[] = [
    ...checkOwners(ids, edited),
    ...checkScopeSettings(edited, settings.maxBodyBytes),
  ]
  if (agent === null && body.agent_id !== undefined)
    issues.push({ path: '/agent_id', message: 'no agent has this id' })
  if (integration === 0)
    issues.push({ path: '/integration_id', message: 'no integration has this id' })
  if (issues.length > 0) return invalid(issues)
  const refused = await checkPatterns(edited.injection_detection, checkerOf(call))
  if (refused !== null) return refused
  const scope: Scope = {
    scope_id,
    organization_id: org,
    agent_id,
    integration_id,
    ...edited,
    created_at: now().toISOString(),
  }
  const counted = await countAffected(redis, scope, null, confirm_affected)
  if (counted.kind === 'refusal') return counted
  const { affected_agents } = counted
  return {
    kind: 'made',
    record: scope,
    guards: [
      ...(isSelected.agent ? [] : [['HGET', REDIS_KEYS.agents(org), agent_id, true] as const]),
      ...(isSelected.integration
        ? []
        : [['HGET', REDIS_KEYS.integrations(org), integration_id, true] as const]),
    ],
    writes: [
      ['HSET', REDIS_KEYS.scopeOwners(org), scope_id, agent_id],
      ['HSET', REDIS_KEYS.integrationScopes(org, integration_id), scope_id, agent_id],
      ...planEndNotice(scope, null, now()),
    ],
    about: { agent_name: agent?.record.agent_name ?? null },
    effects: affected_agents === null ? null : { affected_agents },
  }
}
