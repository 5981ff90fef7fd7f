import type { Scope } from '../catalogue/model.ts'
import type { CompiledIntegration } from './compile-integrations.ts'
import type { ScopeDecision } from './decide-scope.ts'

/**
 * `details` of `permission_denied`. Absent members: `scope` and its time unless one that is not in force would allow the call,
 * `refused_reading` unless the path as written is allowed, `override` and `batch` unless these decided.
 */
export function scopeDetails(
  { integration }: CompiledIntegration,
  decision: Extract<ScopeDecision, { readonly kind: 'denied' }>,
): Readonly<Record<string, unknown>> {
  const { attempted_action, reason, agent_scopes, refused_reading, override, batch } = decision
  const { awaited } = decision
  return {
    service: integration.name,
    attempted_action,
    reason,
    agent_scopes,
    ...(awaited === null ? {} : { scope: awaited.name, ...timeOf(reason, awaited) }),
    ...(refused_reading === null ? {} : { refused_reading }),
    ...(override === null ? {} : { override }),
    ...(batch === null ? {} : { batch }),
  }
}

const timeOf = (reason: string, { not_before, expires_at }: Scope) =>
  reason === 'scope_expired' ? { expires_at } : { not_before }
