import { chooseScope, type ScopeChoice, type ScopedCall } from './choose-scope.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import type { AgentScopes } from './compile-scopes.ts'
import { coverTarget } from './cover-target.ts'
import { describeAction, describeReading } from './describe-call.ts'
import { findPathOverrides } from './find-path-overrides.ts'
import {
  type AddressOverride,
  isFull,
  joinOverrides,
  NO_OVERRIDES,
  OVERRIDES_LIMIT,
  type Overrides,
} from './overrides.ts'
import { parseTarget, type Target } from './parse-target.ts'
import { splitRanges } from './split-ranges.ts'

type Denied = Extract<ScopeChoice, { readonly kind: 'denied' }>

export type ScopeDecision =
  | Exclude<ScopeChoice, Denied>
  | (Omit<Denied, 'call' | 'reading'> & {
      readonly attempted_action: string
      /** The method, and a reading of the path that is not allowed although the path as written is: `GET /projects/a/b`. */
      readonly refused_reading: string | null
    })

interface AskedCall {
  readonly method: string
  readonly target: Target
  readonly integration: CompiledIntegration
}

/**
 * Step 4 of admission: the scope that governs the call, or why none does. With overrides, the governing scope must allow every
 * combination of methods and addresses that an upstream might use instead.
 * @param table the integrations that `asked.integration` was found in.
 * @param said by headers, query and body; overrides in the path are found here.
 */
export function decideScope(
  agent: AgentScopes,
  table: IntegrationTable,
  asked: AskedCall,
  said: Overrides = NO_OVERRIDES,
): ScopeDecision {
  const { integration, method, target } = asked
  const { integration_id } = integration.integration
  const call = scopedCall(asked, method, target)
  const plain = chooseScope(agent, integration_id, call)
  if (plain.kind === 'denied') return denied(plain, asked, method, target)
  const inPath = findPathOverrides(target.segments)
  const overrides = inPath === NO_OVERRIDES ? said : joinOverrides(said, inPath)
  const denial = { agent_scopes: agent.names, nearest: null, reading: null }
  // Blank and repeated ones count too: the search ends at the limit, and what it left may be another method.
  if (isFull(overrides)) {
    const isPath = overrides.addresses.length > OVERRIDES_LIMIT
    const reason = isPath ? 'path_not_allowed' : 'method_not_allowed'
    return denied({ ...denial, reason }, asked, method, target)
  }
  const methods = distinct(overrides.methods, (text) => text.trim().toUpperCase())
  const addresses = overrides.addresses.filter(({ value }) => value.trim() !== '')
  if (methods.length === 0 && addresses.length === 0) return plain

  const targets = [target]
  for (const address of addresses) {
    const other = resolveAddress(address, asked, table)
    if (other === null) break
    targets.push(other)
  }
  if (targets.length !== addresses.length + 1)
    return denied({ ...denial, reason: 'path_not_allowed' }, asked, method, target)

  const calls = targets.flatMap((to) => [method, ...methods].map((as) => scopedCall(asked, as, to)))
  const choice = chooseScope(agent, integration_id, call, calls.slice(1))
  if (choice.kind === 'allowed') return choice
  const refused = calls.indexOf(choice.call)
  const to = targets[Math.floor(refused / (methods.length + 1))] ?? target
  return denied(choice, asked, choice.call.method, to)
}

const distinct = (texts: readonly string[], form: (text: string) => string): readonly string[] =>
  texts.length === 0 ? texts : [...new Set(texts.map(form))].filter((text) => text !== '')

function scopedCall({ integration }: AskedCall, method: string, target: Target): ScopedCall {
  const from = integration.base.segments.length
  const keepsSlashes = integration.integration.allow_encoded_slashes === true
  return {
    method,
    segments: target.segments,
    from,
    readings: splitRanges(keepsSlashes ? [] : target.split_readings, from),
  }
}

/** The address that the upstream would use instead; null if it is not clearly inside the same integration. */
function resolveAddress(
  address: AddressOverride,
  asked: AskedCall,
  table: IntegrationTable,
): Target | null {
  const { integration, target } = asked
  const url = urlOf(address, target)
  if (url === null) return null
  const parsed = parseTarget(`/${url}`)
  if (!parsed.ok) return null
  const covered = coverTarget(table, parsed.target)
  return covered.kind === 'covered' && covered.integration === integration ? parsed.target : null
}

function urlOf({ kind, value }: AddressOverride, target: Target): string | null {
  const text = value.trim()
  if (kind === 'host')
    return /[/?#\\]/.test(text) ? null : `${target.scheme}://${text}${target.raw_path}`
  // The scope allows the whole address, so removing a prefix changes nothing.
  if (kind === 'prefix') return text === '/' ? target.origin + target.raw_path : null
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return text
  return target.origin + (text.startsWith('/') ? text : `/${text}`)
}

function denied(
  why: Omit<Denied, 'kind' | 'call'>,
  { integration }: AskedCall,
  method: string,
  target: Target,
): ScopeDecision {
  return {
    kind: 'denied',
    reason: why.reason,
    attempted_action: describeAction(method, target, integration.base),
    agent_scopes: why.agent_scopes,
    nearest: why.nearest,
    refused_reading:
      why.reading === null ? null : describeReading(method, target, integration.base, why.reading),
  }
}
