import type { Agent } from '../model.ts'
import type { Reason } from '../reasons.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import type { AgentScopes } from './compile-scopes.ts'
import { coverTarget } from './cover-target.ts'
import { decideScope } from './decide-scope.ts'
import { parseTarget } from './parse-target.ts'

export interface ExplainFacts {
  /** null when no agent has the id. */
  readonly agent: Pick<Agent, 'status' | 'killed_at'> | null
  readonly scopes: AgentScopes
  readonly table: IntegrationTable
  readonly method: string
  /** The absolute target URL as an operator writes it. */
  readonly url: string
}

/** What the gateway would answer, in the order of its checks, up to the scope that governs the call. */
export interface Explanation {
  readonly answer: 'allowed' | 'refused'
  readonly error: Reason | null
  readonly integration: {
    readonly integration_id: string
    readonly name: string
    readonly base_url: string
  } | null
  readonly scope: { readonly scope_id: string; readonly name: string } | null
  /** Position of the deciding rule in its scope, from 0. */
  readonly rule: number | null
  /** All scopes whose settings are in force for the call, the governing one among them. */
  readonly settings_from: readonly string[]
  /** Those of the error that a caller would get. */
  readonly details: Readonly<Record<string, unknown>>
}

export function explain({ agent, scopes, table, method, url }: ExplainFacts): Explanation {
  if (method === 'CONNECT') return refused('upgrade_not_supported', {})
  const parsed = parseTarget(`/${Buffer.from(url, 'utf8').toString('latin1')}`)
  if (!parsed.ok) return refused('invalid_target_url', { reason: parsed.reason })
  const { target } = parsed
  const covered = coverTarget(table, target)
  if (covered.kind === 'refused')
    return refused(covered.reason, covered.details, covered.integration)
  const { integration } = covered
  if (agent === null) return refused('agent_not_found', {}, integration)
  if (agent.status === 'killed')
    return refused('agent_killed', { killed_at: agent.killed_at }, integration)

  const decision = decideScope(scopes, table, { method, target, integration })
  if (decision.kind === 'denied') {
    const { attempted_action, reason, agent_scopes } = decision
    const service = integration.integration.name
    return refused(
      'permission_denied',
      { service, attempted_action, reason, agent_scopes },
      integration,
    )
  }
  return {
    answer: 'allowed',
    error: null,
    integration: named(integration),
    scope: { scope_id: decision.scope.scope_id, name: decision.scope.name },
    rule: decision.rule,
    settings_from: decision.settings.scope_ids,
    details: {},
  }
}

function refused(
  error: Reason,
  details: Explanation['details'],
  integration: CompiledIntegration | null = null,
): Explanation {
  return {
    answer: 'refused',
    error,
    integration: named(integration),
    scope: null,
    rule: null,
    settings_from: [],
    details,
  }
}

function named(integration: CompiledIntegration | null): Explanation['integration'] {
  if (integration === null) return null
  const { integration_id, name, base_url } = integration.integration
  return { integration_id, name, base_url }
}
