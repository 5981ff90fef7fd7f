import type { Scope } from '../catalogue/model.ts'
import { type Batch, isBatchEmpty, isBatchPath, nothingFound } from '../request/batch.ts'
import { type BatchProblem, callsOfBatch, type WantedCall } from './calls-of-batch.ts'
import {
  chooseScope,
  type ScopeChoice,
  type ScopeDenial,
  type ScopedCall,
  type WindowDenial,
} from './choose-scope.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import { type AgentScopes, asksApproval } from './compile-scopes.ts'
import { describeAction, describeReading } from '../request/describe-call.ts'
import { findFormBatch } from '../request/find-form-batch.ts'
import { findOverrides } from '../request/find-overrides.ts'
import { findPathOverrides } from '../request/find-path-overrides.ts'
import {
  isEmpty,
  isFull,
  joinOverrides,
  NO_OVERRIDES,
  OVERRIDES_LIMIT,
  type Overrides,
} from '../request/overrides.ts'
import type { Target } from '../request/parse-target.ts'
import { resolveAddress } from './resolve-address.ts'
import { scopesFor } from './scopes-for.ts'
import { splitRanges } from '../request/split-ranges.ts'

type Denied = Extract<ScopeChoice, { readonly kind: 'denied' }>

export type ScopeDecision =
  | Exclude<ScopeChoice, Denied>
  | (Omit<Denied, 'call' | 'reading' | 'reason'> & {
      readonly reason: ScopeDenial | WindowDenial
      /** The scope that would allow the call if it were in force; null if there is none. */
      readonly awaited: Scope | null
      readonly attempted_action: string
      /** The method, and a reading of the path that is not allowed although the path as written is: `GET /projects/a/b`. */
      readonly refused_reading: string | null
      /** The header, parameter or member that decided; null if the call itself is refused. */
      readonly override: string | null
      /** What is wrong with a batch of calls; null if nothing is, or there is none. */
      readonly batch: BatchProblem['kind'] | null
    })

interface AskedCall {
  readonly method: string
  readonly target: Target
  readonly integration: CompiledIntegration
  /** Whether it is the handshake of a WebSocket. */
  readonly is_socket?: boolean
}

/**
 * Step 4 of admission. A scope that is not in force counts only for the reason of a refusal.
 * @param agent_scopes those in force (`scopesInForce`)
 * @param table the integrations that `asked.integration` was found in.
 * @param said by headers, query and body; overrides in the path are found here.
 */
export function decideScope(
  agent_scopes: AgentScopes,
  table: IntegrationTable,
  asked: AskedCall,
  said: Overrides = NO_OVERRIDES,
): ScopeDecision {
  const decision = decideAmong(agent_scopes, table, asked, said)
  const { others } = agent_scopes
  if (decision.kind === 'allowed' || others === null) return decision
  for (const [reason, scopes] of [
    ['scope_not_yet', others.not_yet],
    ['scope_expired', others.expired],
  ] as const) {
    const found = decideAmong(scopes, table, asked, said)
    if (found.kind === 'allowed') return { ...decision, reason, awaited: found.scope }
  }
  return decision
}

/**
 * The scope that governs the call, or why none does. With overrides, the governing scope must allow every
 * combination of methods and addresses that an upstream might use instead.
 */
function decideAmong(
  agent_scopes: AgentScopes,
  table: IntegrationTable,
  asked: AskedCall,
  said: Overrides,
): ScopeDecision {
  const { integration, method, target } = asked
  const agent = scopesFor(agent_scopes, integration)
  const { integration_id } = integration.integration
  const call = scopedCall(asked, method, target)
  const plain = chooseScope(agent, integration_id, call)
  if (plain.kind === 'denied') return denied(plain, asked, asked)
  const overrides = joined(said, findPathOverrides(target.segments), batchInQuery(target))
  if (overrides === NO_OVERRIDES) return plain
  const refuse = (
    reason: ScopeDenial,
    override: string | null,
    batch: BatchProblem['kind'] | null = null,
  ): ScopeDecision =>
    denied(
      { agent_scopes: agent.names, nearest: null, reading: null, reason },
      asked,
      { method, target },
      { override, batch },
    )

  const { names = NO_NAMES } = overrides
  // Blank and repeated ones count too: the search ends at the limit, and what it left may be another method.
  if (isFull(overrides)) {
    const isPath = overrides.addresses.length > OVERRIDES_LIMIT
    const first = isPath ? overrides.addresses[0]?.value : overrides.methods[0]
    return refuse(
      isPath ? 'path_not_allowed' : 'method_not_allowed',
      names.get(first ?? '') ?? null,
    )
  }
  const calls: WantedCall[] = []
  const targets: WantedCall[] = [{ method, target, method_name: null, address_name: null }]
  for (const address of overrides.addresses) {
    if (address.value.trim() === '') continue
    const address_name = names.get(address.value) ?? null
    const other = resolveAddress(address, asked, table)
    if (other === null) return refuse('path_not_allowed', address_name)
    targets.push({ method, target: other, method_name: null, address_name })
  }
  for (const one of targets) {
    if (one.target !== target) calls.push(one)
    for (const text of overrides.methods) {
      const as = text.trim().toUpperCase()
      if (as === '') continue
      calls.push({ ...one, method: as, method_name: names.get(text) ?? null })
    }
  }
  const { batch } = overrides
  if (batch !== undefined) {
    const inBatch = callsOfBatch(batch, asked, table, mayBeUnread(agent, integration_id, plain))
    if ('kind' in inBatch) return refuse('path_not_allowed', inBatch.name, inBatch.kind)
    calls.push(...inBatch.calls)
  }
  if (calls.length === 0) return plain

  const scoped = calls.map((one) => scopedCall(asked, one.method, one.target))
  const choice = chooseScope(agent, integration_id, call, scoped)
  if (choice.kind === 'allowed') return choice
  const refused = calls[scoped.indexOf(choice.call)]
  if (refused === undefined) return denied(choice, asked, asked)
  const { method_name, address_name } = refused
  const override =
    choice.reason === 'path_not_allowed'
      ? (address_name ?? method_name)
      : (method_name ?? address_name)
  return denied(choice, asked, refused, { override, batch: null })
}

/** What cannot be read of a batch may be a call that a person has to allow. */
const mayBeUnread = (
  { by_integration }: AgentScopes,
  integration_id: string,
  { settings }: Extract<ScopeChoice, { kind: 'allowed' }>,
): boolean =>
  settings.allow_batches && by_integration.get(integration_id)?.scopes.some(asksApproval) !== true

/** What a target names in its path and query in addition to itself. */
export const overridesIn = (target: Target): Overrides =>
  joined(
    findOverrides([], target.raw_query),
    findPathOverrides(target.segments),
    batchInQuery(target),
  )

const NO_NAMES: ReadonlyMap<string, string> = new Map()

/** `NO_OVERRIDES` itself if there are none. */
function joined(said: Overrides, inPath: Overrides, batch: Batch | null): Overrides {
  const both = inPath === NO_OVERRIDES ? said : joinOverrides(said, inPath)
  if (batch !== null) return joinOverrides(both, { ...NO_OVERRIDES, batch })
  return isEmpty(both) ? NO_OVERRIDES : both
}

function batchInQuery({ raw_query, segments }: Target): Batch | null {
  if (raw_query === null) return null
  const found = nothingFound()
  findFormBatch(raw_query, found, NO_FIELDS, isBatchPath(segments))
  return isBatchEmpty(found) ? null : found
}

/** A part in a query has no body. */
const NO_FIELDS = (): Overrides => NO_OVERRIDES

function scopedCall(
  { integration, is_socket = false }: AskedCall,
  method: string,
  target: Target,
): ScopedCall {
  const from = integration.base.segments.length
  const keepsSlashes = integration.integration.allow_encoded_slashes === true
  return {
    method,
    segments: target.segments,
    from,
    readings: splitRanges(keepsSlashes ? [] : target.split_readings, from),
    is_socket,
  }
}

const NOT_OVERRIDDEN = { override: null, batch: null }

function denied(
  why: Omit<Denied, 'kind' | 'call'>,
  { integration }: AskedCall,
  { method, target }: Pick<AskedCall, 'method' | 'target'>,
  by: {
    readonly override: string | null
    readonly batch: BatchProblem['kind'] | null
  } = NOT_OVERRIDDEN,
): ScopeDecision {
  return {
    kind: 'denied',
    reason: why.reason,
    awaited: null,
    attempted_action: describeAction(method, target, integration.base),
    agent_scopes: why.agent_scopes,
    nearest: why.nearest,
    refused_reading:
      why.reading === null ? null : describeReading(method, target, integration.base, why.reading),
    ...by,
  }
}
