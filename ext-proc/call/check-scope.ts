import type { CompiledIntegration } from '../../core/policy/compile-integrations.ts'
import { decideScope, type ScopeDecision } from '../../core/policy/decide-scope.ts'
import type { Overrides } from '../../core/policy/overrides.ts'
import type { OutgoingRequest } from '../../core/policy/outgoing-request.ts'
import type { Target } from '../../core/policy/parse-target.ts'
import type { OrganizationPolicy } from '../policy/policy-store.ts'
import { type Call, given, refuse, type Step } from './call.ts'
import type { Identity } from './identify-agent.ts'

/** What is asked for, once it is known who asks. */
export interface AskedCall {
  readonly identity: Identity
  readonly integration: CompiledIntegration
  readonly organization: OrganizationPolicy
  readonly target: Target
  readonly outgoing: OutgoingRequest
}

export type AllowedScope = Extract<ScopeDecision, { kind: 'allowed' }>

/** Steps 4 and 5. */
export function checkScope(
  { record, head }: Call,
  asked: AskedCall,
  overrides: Overrides,
): Step<AllowedScope> {
  const { identity, integration, organization, target } = asked
  const { method } = head
  const decision = decideScope(
    identity.policy.scopes,
    organization.table,
    { method, target, integration },
    overrides,
  )
  if (decision.kind === 'denied') {
    const { attempted_action, reason, agent_scopes } = decision
    const service = integration.integration.name
    return refuse(record, 'scope', 'permission_denied', {
      service,
      attempted_action,
      reason,
      agent_scopes,
    })
  }
  record.facts.scope_id = decision.scope.scope_id
  record.facts.rule = decision.rule
  record.mark('scope', 'pass')
  return given(decision)
}
