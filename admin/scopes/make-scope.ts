import type { Static } from 'typebox'
import { mintId } from '../../core/api-key.ts'
import { type Agent, SCOPE_DEFAULTS, type Scope } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { mergePatch } from '../resources/merge-patch.ts'
import { readRecord } from '../resources/records.ts'
import type { Made } from '../resources/resource.ts'
import { checkInput } from '../http/check-input.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Issue, type Refusal, invalid } from '../http/outcome.ts'
import { canonicalScope } from './canonical-scope.ts'
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
  const { agent_id, integration_id, ...wanted } = body
  const special = { whole: SCOPE_WHOLE, nullable: SCOPE_NULLABLE }
  const checked = checkInput(EditableScope, mergePatch(SCOPE_DEFAULTS, wanted, special))
  if (!checked.ok) return invalid(checked.issues)
  const edited = canonicalScope(checked.value)
  const [agent, integration] = await Promise.all([
    readRecord<Agent>(redis, REDIS_KEYS.agents(org), agent_id),
    redis.hexists(REDIS_KEYS.integrations(org), integration_id),
  ])
  const issues: Issue[] = checkScopeSettings(edited, settings.maxBodyBytes)
  if (agent === null) issues.push({ path: '/agent_id', message: 'no agent has this id' })
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
  return {
    kind: 'made',
    record: scope,
    guards: [
      ['HGET', REDIS_KEYS.agents(org), agent_id, true],
      ['HGET', REDIS_KEYS.integrations(org), integration_id, true],
    ],
    writes: [
      ['HSET', REDIS_KEYS.scopeOwners(org), scope_id, agent_id],
      ['HSET', REDIS_KEYS.integrationScopes(org, integration_id), scope_id, agent_id],
      ...planEndNotice(scope, null, now()),
    ],
    about: { agent_name: agent?.record.agent_name ?? null },
  }
}
