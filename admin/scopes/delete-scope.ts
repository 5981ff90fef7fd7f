import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Call } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { NO_CONTENT, type Outcome, notFound } from '../http/outcome.ts'
import { findScope } from './find-scope.ts'
import { scopeView } from './scope-view.ts'

export async function deleteScope(call: Call<{ scope_id: string }>): Promise<Outcome> {
  const { context, actor, params, headers } = call
  const org = actor.organization_id
  const stored = await findScope(context.redis, org, params.scope_id)
  if (stored === null) return notFound()
  const stale = checkPrecondition(headers, stored.text)
  if (stale !== null) return stale
  const { scope_id, agent_id, integration_id } = stored.record
  const scopes = REDIS_KEYS.agentScopes(org, agent_id)
  return {
    kind: 'plan',
    guards: [['HGET', scopes, scope_id, stored.text]],
    writes: [
      ['HDEL', scopes, scope_id],
      ['HDEL', REDIS_KEYS.scopeOwners(org), scope_id],
      ['HDEL', REDIS_KEYS.integrationScopes(org, integration_id), scope_id],
      ['ZREM', REDIS_KEYS.scopeIndex(org), scope_id],
    ],
    targets: [{ what: 'agent', organization_id: org, agent_id }],
    audit: {
      action: 'scope.delete',
      target: scope_id,
      before: scopeView(stored.record),
      after: null,
      agent_id,
      integration_id,
      scope_id,
    },
    answer: NO_CONTENT,
  }
}
