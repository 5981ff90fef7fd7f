import { decideScope } from './decide-scope.ts'
import { isEmpty, joinOverrides, type Overrides } from '../request/overrides.ts'
import { leavesSafe } from './is-reading.ts'
import { lockDetails } from './locks.ts'
import { isSameApproval } from './needed-approval.ts'
import { scopeDetails } from './scope-details.ts'
import type { Admitted, NotAdmitted } from './admission.ts'

/** A method or path named in the body must be allowed too, under the settings that already apply to the call. Null if it is. */
export function admitBody(admitted: Admitted, inBody: Overrides): NotAdmitted | null {
  if (isEmpty(inBody)) return null
  const { integration, integrations, agent_scopes, settings, overrides, key, agent } = admitted
  const known = { integration, key, agent }
  const { reading_lock: lock } = admitted
  if (lock !== null && !leavesSafe(inBody))
    return {
      kind: 'not_admitted',
      step: 'scope',
      reason: 'locked',
      details: lockDetails(lock),
      known,
    }
  const both = joinOverrides(overrides, inBody)
  const decision = decideScope(agent_scopes, integrations, admitted, both)
  if (decision.kind === 'denied') {
    const details = scopeDetails(integration, decision)
    return { kind: 'not_admitted', step: 'scope', reason: 'permission_denied', details, known }
  }
  // Rate and size were checked before the body was known, so stricter settings can no longer be applied. Nor can an
  // approval: what an approver is shown names the call itself.
  const has_same_approval = isSameApproval(decision.approval, admitted.approval)
  if (has_same_approval && decision.settings.scope_ids.length === settings.scope_ids.length)
    return null
  const details = { reason: inBody.batch === undefined ? '_method' : 'batch' }
  return { kind: 'not_admitted', step: 'scope', reason: 'ambiguous_request', details, known }
}
