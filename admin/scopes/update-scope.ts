import type { Scope } from '../../core/model.ts'
import { SCOPE_DEFAULTS } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { mergePatch } from '../changes/merge-patch.ts'
import { checkInput } from '../http/check-input.ts'
import { checkReadOnly } from '../http/check-read-only.ts'
import type { Call } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { type Outcome, answer, invalid, notFound } from '../http/outcome.ts'
import { canonicalScope } from './canonical-scope.ts'
import { checkScopeSettings } from './check-scope-settings.ts'
import { findScope } from './find-scope.ts'
import { EditableScope, SCOPE_NULLABLE, SCOPE_READ_ONLY, SCOPE_WHOLE } from './scope-schemas.ts'
import { scopeView } from './scope-view.ts'

/** A merge patch; a member that is patched away has its default again. */
export async function updateScope(call: Call<{ scope_id: string }>): Promise<Outcome> {
  const { context, actor, params, headers } = call
  const { redis, settings } = context
  const org = actor.organization_id
  const patch = call.body as Record<string, unknown>
  const stored = await findScope(redis, org, params.scope_id)
  if (stored === null) return notFound()
  const stale = checkPrecondition(headers, stored.text)
  if (stale !== null) return stale
  const { record: scope } = stored
  const before = scopeView(scope)
  const fixed = checkReadOnly(patch, before, SCOPE_READ_ONLY)
  if (fixed.length > 0) return invalid(fixed)
  const special = { whole: SCOPE_WHOLE, nullable: SCOPE_NULLABLE }
  const merged = mergePatch(omit(before), omit(patch), special)
  const whole = mergePatch(SCOPE_DEFAULTS, merged, special)
  const checked = checkInput(EditableScope, whole)
  if (!checked.ok) return invalid(checked.issues)
  const edited = canonicalScope(checked.value)
  const issues = checkScopeSettings(edited, settings.maxBodyBytes)
  if (issues.length > 0) return invalid(issues)
  const updated: Scope = { ...scope, ...edited }
  const { agent_id, scope_id, integration_id } = scope
  const scopes = REDIS_KEYS.agentScopes(org, agent_id)
  const after = scopeView(updated)
  return {
    kind: 'plan',
    guards: [['HGET', scopes, scope_id, stored.text]],
    writes: [['HSET', scopes, scope_id, JSON.stringify(updated)]],
    targets: [{ what: 'agent', organization_id: org, agent_id }],
    audit: {
      action: 'scope.update',
      target: scope_id,
      before,
      after,
      agent_id,
      integration_id,
      scope_id,
    },
    answer: answer(200, after),
  }
}

const omit = (from: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !SCOPE_READ_ONLY.includes(name)))
