import type { CompiledIntegration } from '../policy/compile-integrations.ts'
import type { ScopeDecision } from '../policy/decide-scope.ts'

/** `details` of `permission_denied`. `refused_reading` is absent unless the path as written is allowed. */
export function scopeDetails(
  { integration }: CompiledIntegration,
  decision: Extract<ScopeDecision, { readonly kind: 'denied' }>,
): Readonly<Record<string, unknown>> {
  const { attempted_action, reason, agent_scopes, refused_reading } = decision
  const details = { service: integration.name, attempted_action, reason, agent_scopes }
  return refused_reading === null ? details : { ...details, refused_reading }
}
