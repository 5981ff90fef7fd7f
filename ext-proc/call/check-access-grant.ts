import { accessGrantDigest } from '../../core/approval/call-digest.ts'
import { describeAction } from '../../core/request/describe-call.ts'
import type { CallRecord } from '../record/call-record.ts'
import { type Deny, deny } from '../verdict/step.ts'
import type { AdmittedCall } from './admit-call.ts'
import { causeOf } from './cause-of.ts'
import { type ApprovalServices, decidedBy, staleAgent } from './check-approval.ts'

/**
 * Whether the access that governs the call, which a person has allowed for a time, is still as it was allowed: the store knows of
 * kills, deletions and of who may approve.
 */
export async function checkAccessGrant(
  services: ApprovalServices,
  call: AdmittedCall,
  { facts }: CallRecord,
): Promise<Deny | null> {
  const { approvals, nowMs, whyUnavailable } = services
  const { scope, integration, agent, method, target } = call
  const { organization_id, agent_id, revision } = agent
  const { origin = '', scope_id, name, expires_at } = scope
  const digest = accessGrantDigest(origin, agent_id, integration.integration, target.origin)
  const by = { request_id: facts.request_id, edge_id: approvals.edge_id }
  const now = new Date(nowMs())
  const wanted = { organization_id, agent_id, revision, digest, grant_digest: digest, by, now }
  try {
    const state = await approvals.take(wanted, null)
    if (state.kind === 'stale') return staleAgent(services, wanted)
    if (state.kind === 'granted' && state.scope_id === scope_id) {
      const { request_id } = state
      facts.data['approval'] = { request_id, scope_id, decided_by: decidedBy(state.approvals) }
      return null
    }
  } catch (error) {
    return deny('approval', 'gateway_unavailable', causeOf(whyUnavailable(error)))
  }
  return deny('scope', 'permission_denied', {
    service: integration.integration.name,
    attempted_action: describeAction(method, target, integration.base),
    reason: 'scope_expired',
    agent_scopes: call.agent_scopes.names,
    scope: name,
    expires_at,
  })
}
