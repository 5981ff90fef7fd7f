import { decideScope } from '../policy/decide-scope.ts'
import { isEmpty, joinOverrides, type Overrides } from '../policy/overrides.ts'
import type { Admitted, NotAdmitted } from './admission.ts'

/**
 * A method or path that the body names must be allowed as well, and under the settings that already hold for the call.
 * Null where it is.
 */
export function admitBody(admitted: Admitted, inBody: Overrides): NotAdmitted | null {
  if (isEmpty(inBody)) return null
  const { integration, integrations, agent_scopes, settings, overrides, key, agent } = admitted
  const known = { integration, key, agent }
  const both = joinOverrides(overrides, inBody)
  const decision = decideScope(agent_scopes, integrations, admitted, both)
  if (decision.kind === 'denied') {
    const { attempted_action, reason, agent_scopes: names } = decision
    const service = integration.integration.name
    const details = { service, attempted_action, reason, agent_scopes: names }
    return { kind: 'not_admitted', step: 'scope', reason: 'permission_denied', details, known }
  }
  // Rate and size were judged by the settings before the body was known; stricter ones come too late.
  if (decision.settings.scope_ids.length === settings.scope_ids.length) return null
  const details = { reason: '_method' }
  return { kind: 'not_admitted', step: 'scope', reason: 'ambiguous_request', details, known }
}
