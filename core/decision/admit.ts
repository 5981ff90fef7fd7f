import type { Agent, ApiKey, Lock } from '../catalogue/model.ts'
import type { CompiledIntegration } from './compile-integrations.ts'
import { KEY_PREFIX } from '../keys/api-key.ts'
import { hasScopeFor } from './also-hosts.ts'
import { chooseCredential } from './choose-credential.ts'
import { type Coverage, coverTarget } from './cover-target.ts'
import { compileScopes } from './compile-scopes.ts'
import { decideScope, type ScopeDecision } from './decide-scope.ts'
import { mayOnlyRead } from './is-reading.ts'
import { endOfLock, findLock, lockDetails, type LockSubject, modeOf } from './locks.ts'
import { findOverrides } from '../request/find-overrides.ts'
import { type OutgoingRequest, outgoingRequest } from './outgoing-request.ts'
import { holdsGatewayKey } from '../request/holds-gateway-key.ts'
import { hasOwnVia } from '../request/request-headers.ts'
import { scopesInForce } from './scopes-in-force.ts'
import type { Target } from '../request/parse-target.ts'
import { unlistedIntegration } from './unlisted-hosts.ts'
import { targetProblemDetails } from '../request/target-problem-details.ts'
import type { Reason } from '../catalogue/reasons.ts'
import type { AdmissionFacts, AgentFacts, Caller, RequestFacts } from './admission-facts.ts'
import type { Admission, AdmissionStep, Known, MissingFact, NotAdmitted } from './admission.ts'
import { checkKey } from './check-key.ts'
import { scopeDetails } from './scope-details.ts'

/**
 * Envoy accepts 200 headers and applies the same limit to header mutations. The rest is reserved for the headers that a pass
 * and Envoy itself add.
 */
const HEADERS_LIMIT = 188
const CLAIMED_ID_LIMIT = 128
/** No registered method is longer than 17 characters. */
const METHOD_LENGTH_LIMIT = 128

/** Results of earlier evaluations of the same call. Facts that are added later do not change them. */
export interface SettledChecks {
  target: Target | null
  integration: CompiledIntegration | null
  outgoing: OutgoingRequest | null
}

const nothingSettled = (): SettledChecks => ({ target: null, integration: null, outgoing: null })

/**
 * The steps of admission (`ADMISSION_STEPS`), in order. The first one that fails determines the result. Facts come from the
 * caches of an edge, or from the store for `explain`. The result depends only on them.
 * @param settled results of the checks that have passed, so that an evaluation with one more fact does not repeat them
 */
export function admit(facts: AdmissionFacts, settled: SettledChecks = nothingSettled()): Admission {
  if (settled.target === null) {
    const aimed = admitTarget(facts.request)
    if (aimed.kind !== 'aimed') return aimed
    settled.target = aimed.target
  }
  const { target } = settled
  const { caller, integrations, request } = facts
  if (caller === undefined || integrations === undefined)
    return { kind: 'missing', fact: 'caller', target }

  if (settled.integration === null) {
    const unlisted =
      facts.unlisted === undefined
        ? null
        : unlistedIntegration(integrations, target, facts.unlisted)
    const covered =
      unlisted === null
        ? coverTarget(integrations, target)
        : ({ kind: 'covered', integration: unlisted } as const)
    if (covered.kind === 'refused') return notCovered(covered)
    settled.integration = covered.integration
  }
  const { integration } = settled

  const identified = identify(facts, settled, caller, integration, target)
  // Who may call unlisted hosts is known with the agent. For all others the host is in no integration, whoever they are.
  if (integration.is_unlisted && identified.kind !== 'missing' && !mayCallUnlisted(facts)) {
    const covered = coverTarget(integrations, target)
    if (covered.kind === 'refused') return notCovered(covered)
  }
  if (identified.kind !== 'identified') return identified
  const { key, agent, scopes } = identified

  const { method, upgrade } = request
  const [user = null, second_user] = request.named_users
  if (second_user !== undefined)
    return no('agent', 'ambiguous_request', { reason: 'user_header' }, { integration, key, agent })
  const is_socket = upgrade === 'websocket'
  const outgoing = settleOutgoing(request, settled, integration, target)
  const overrides = findOverrides(outgoing.headers, outgoing.raw_query)
  const asked = { method, target, integration, is_socket }
  const in_force = scopesInForce(scopes, facts.scopes_at_ms ?? facts.now_ms)
  const decision = decideScope(in_force, integrations, asked, overrides)
  if (decision.kind === 'denied') return notPermitted(decision, { integration, key, agent })
  const { scope, rule, settings, approval } = decision
  const does = { method, is_socket, overrides, target }
  const held = heldByLock(facts, identified, integration, decision, does)
  if (held !== null && held.kind === 'not_admitted') return held
  const socket = is_socket ? admitSocket(decision, { integration, key, agent }) : null
  if (socket !== null) return socket
  return {
    kind: 'admitted',
    method,
    is_socket,
    target,
    integration,
    integrations,
    outgoing,
    overrides,
    key,
    agent,
    agent_scopes: in_force,
    scope,
    rule,
    settings,
    approval,
    credential: chooseCredential(integration, scope, agent, user),
    reading_lock: held === null ? null : held.lock,
  }
}

function notPermitted(
  decision: Extract<ScopeDecision, { kind: 'denied' }>,
  known: Pick<Known, 'key' | 'agent'> & { readonly integration: CompiledIntegration },
): NotAdmitted {
  const { nearest } = decision
  const details = scopeDetails(known.integration, decision)
  const has_scope = decision.reason !== 'no_scope'
  return { ...no('scope', 'permission_denied', details, { ...known, has_scope }), nearest }
}

/**
 * Null if an allowed GET can become a WebSocket. Which tool a message calls is not read, and nobody can approve messages before they
 * are sent, so a client has to call by HTTP.
 */
function admitSocket(
  { allows_socket, settings, approval }: Extract<ScopeDecision, { kind: 'allowed' }>,
  known: Partial<Known>,
): NotAdmitted | null {
  const refuse = (details: NotAdmitted['details']): NotAdmitted =>
    no('scope', 'upgrade_not_supported', details, { ...known, has_scope: true })
  if (!allows_socket) return refuse({})
  if (!settings.tools.is_unrestricted) return refuse({ reason: 'mcp_tools' })
  return approval === null ? null : refuse({ reason: 'approval' })
}

/** Locks that depend on the governing scope, or on what the call does. */
function heldByLock(
  { locks = null }: AdmissionFacts,
  { key, agent }: Extract<Identified, { kind: 'identified' }>,
  integration: CompiledIntegration,
  { scope, settings }: Extract<ScopeDecision, { kind: 'allowed' }>,
  call: Parameters<typeof mayOnlyRead>[0],
): NotAdmitted | { readonly kind: 'reading'; readonly lock: Lock } | null {
  if (locks === null) return null
  const { scope_id } = scope
  const subject = { ...subjectOf(agent, key, integration), scope_id }
  const lock = findLock(locks.table, subject, locks.at_ms, 'any')
  if (lock === null) return null
  if (modeOf(lock) === 'read_only' && mayOnlyRead(call, settings.read_tools))
    return { kind: 'reading', lock }
  const known = { integration, key, agent, has_scope: true }
  return locked('scope', lock, locks.at_ms, known)
}

const subjectOf = (
  agent: Agent,
  key: ApiKey | null,
  { integration: { integration_id } }: CompiledIntegration,
): LockSubject => ({ agent, key_id: key?.key_id ?? null, integration_id, scope_id: null })

function locked(
  step: AdmissionStep,
  lock: Lock,
  at_ms: number,
  known: Partial<Known>,
): NotAdmitted {
  const left_ms = endOfLock(lock) - at_ms
  const refused = no(step, 'locked', lockDetails(lock), known)
  return Number.isFinite(left_ms) ? { ...refused, retry_after_ms: left_ms } : refused
}

const mayCallUnlisted = ({ agent, unlisted }: AdmissionFacts): boolean =>
  (agent?.agent?.unlisted_hosts ?? unlisted?.by_default) === 'allow'

function notCovered({
  reason,
  details,
  integration,
}: Extract<Coverage, { kind: 'refused' }>): NotAdmitted {
  const step = reason === 'invalid_target_url' ? 'target' : 'integration'
  return no(step, reason, details, { integration })
}

function settleOutgoing(
  { headers, is_proxied }: RequestFacts,
  settled: SettledChecks,
  { owned, integration, connections, listing, is_unlisted }: CompiledIntegration,
  { raw_query }: Target,
): OutgoingRequest {
  // At a further or unlisted host without a credential a client of the forward proxy may use what the API gave it, such as a token.
  const isFurther = listing !== null || is_unlisted
  const hasNone = integration.auth.type === 'none' && connections === null
  const keeps_authorization = is_proxied && isFurther && hasNone
  settled.outgoing ??= outgoingRequest(headers, raw_query, owned, keeps_authorization)
  return settled.outgoing
}

/** 426 would say that another upgrade is supported, and would make clients of WebSocket fall back to what they did not ask for. */
const NO_UPGRADE: NotAdmitted = {
  kind: 'not_admitted',
  step: 'target',
  reason: 'upgrade_not_supported',
  status: 400,
  details: {},
  known: { integration: null, key: null, agent: null },
}

/** A method is any token, and a scope may allow every one; a key cannot be taken out of it. */
const KEY_AS_METHOD = targetProblemDetails('gateway_key')

/** Step 1. */
function admitTarget(
  request: RequestFacts,
): { readonly kind: 'aimed'; readonly target: Target } | NotAdmitted {
  const { method, headers, target, upgrade, installation } = request
  if (headers.length > HEADERS_LIMIT) return no('target', 'headers_too_large')
  if (method === 'CONNECT') return NO_UPGRADE
  if (holdsGatewayKey(method)) return no('target', 'invalid_target_url', KEY_AS_METHOD)
  if (method.length > METHOD_LENGTH_LIMIT) return no('target', 'bad_request')
  if (!target.ok)
    return target.reason === 'discovery'
      ? no('target', 'oauth_not_supported')
      : no('target', 'invalid_target_url', targetProblemDetails(target.reason))
  if (upgrade === 'other') return NO_UPGRADE
  if (installation !== '' && hasOwnVia(headers, installation)) return no('target', 'loop_detected')
  return { kind: 'aimed', target: target.target }
}

type Identified =
  | {
      readonly kind: 'identified'
      readonly key: ApiKey | null
      readonly agent: Agent
      readonly scopes: AgentFacts['scopes']
    }
  | NotAdmitted
  | MissingFact

/** Step 3. */
function identify(
  facts: AdmissionFacts,
  settled: SettledChecks,
  caller: Caller,
  integration: CompiledIntegration,
  target: Target,
): Identified {
  switch (caller.kind) {
    case 'none':
      return no('agent', 'authentication_required', hintOfQuery(target), { integration })
    case 'ambiguous':
      return no('agent', 'ambiguous_request', { reason: caller.reason }, { integration })
    case 'unknown':
      return no(
        'agent',
        isOwnPlace(caller, integration) ? 'invalid_api_key' : 'authentication_required',
        {},
        { integration },
      )
    case 'assumed':
      return active(
        facts.agent ?? NO_AGENT,
        '',
        { integration, key: caller.key ?? null },
        facts.locks,
      )
    case 'known':
      return isOwnPlace(caller, integration)
        ? identifyBy(caller.key, facts, settled, integration, target)
        : no('agent', 'authentication_required', {}, { integration })
  }
}

/** A URL that a client has signed for another one to use holds the key as the name of the signer. */
const hintOfQuery = ({ raw_query }: Target): NotAdmitted['details'] =>
  raw_query?.includes(KEY_PREFIX.live) === true ? { hint: SIGNED_URL } : {}

const SIGNED_URL =
  'The query has a gateway key, as in a URL presigned with it. Presigned URLs are not accepted. Send the request with the key in the Authorization header, or let the client sign each request.'

const NO_AGENT: AgentFacts = {
  agent: null,
  killed_at: null,
  scopes: compileScopes([]),
}

/**
 * A key in a header or parameter counts as presented only if a credential of this integration uses that header or parameter.
 */
const isOwnPlace = (
  { place }: Extract<Caller, { readonly place: unknown }>,
  { owned }: CompiledIntegration,
): boolean =>
  place.kind === 'authorization' ||
  owned.some(({ kind, name }) => place.kind === kind && place.name === name)

function identifyBy(
  key: ApiKey,
  facts: AdmissionFacts,
  settled: SettledChecks,
  integration: CompiledIntegration,
  target: Target,
): Identified {
  const known = { integration, key }
  const problem = checkKey(key, facts.now_ms)
  if (problem === 'revoked_by_kill') return killed(key, facts.agent, known)
  if (problem !== null) return no('agent', problem, {}, known)
  const named = nameAgent(key, facts, settled, integration, target)
  if (named.kind !== 'named') return named
  const { agent_id } = named
  if (key.agent_ids !== null && !key.agent_ids.includes(agent_id))
    return no('agent', 'key_not_allowed', {}, known)
  const { organization_id } = key
  return facts.agent === undefined
    ? { kind: 'missing', fact: 'agent', organization_id, agent_id, is_calling: true }
    : active(facts.agent, agent_id, known, facts.locks)
}

/** For a key revoked by a kill the response names the kill, as it does for the agent's other keys. */
function killed(
  key: ApiKey,
  found: AgentFacts | undefined,
  known: { readonly integration: CompiledIntegration; readonly key: ApiKey },
): Identified {
  const { organization_id, agent_id } = key
  if (agent_id === null) return no('agent', 'invalid_api_key', {}, known)
  if (found === undefined)
    return { kind: 'missing', fact: 'agent', organization_id, agent_id, is_calling: false }
  const { agent, killed_at, scopes } = found
  if (agent === null) return no('agent', 'invalid_api_key', {}, known)
  const has_scope = hasScopeFor(scopes, known.integration)
  // A reactivation since the key was read does not undo the kill that this key names.
  const details = { killed_at: killed_at ?? key.revoked_at }
  return no('agent', 'agent_killed', details, { ...known, agent, has_scope })
}

type Named = { readonly kind: 'named'; readonly agent_id: string } | NotAdmitted | MissingFact

/** The key's own agent, else the header's, else the body's. */
function nameAgent(
  key: ApiKey,
  { request, said }: AdmissionFacts,
  settled: SettledChecks,
  integration: CompiledIntegration,
  target: Target,
): Named {
  const known = { integration, key }
  const [named, second] = request.named_agents
  if (second !== undefined)
    return no('agent', 'ambiguous_request', { reason: 'agent_id_header' }, known)
  if (key.agent_id !== null)
    return named === undefined || named === key.agent_id
      ? { kind: 'named', agent_id: key.agent_id }
      : no('agent', 'agent_mismatch', {}, known)
  if (named !== undefined)
    return named === ''
      ? no('agent', 'agent_id_required', {}, known)
      : { kind: 'named', agent_id: named }
  switch (said?.kind) {
    case undefined:
      return {
        kind: 'missing',
        fact: 'said',
        integration,
        outgoing: settleOutgoing(request, settled, integration, target),
      }
    case 'none':
      return no('agent', 'agent_id_required', {}, known)
    case 'ambiguous':
      return no('agent', 'ambiguous_request', { reason: 'agent_id' }, known)
    case 'named':
      return { kind: 'named', agent_id: said.agent_id }
  }
}

/** @param agent_id as claimed by the caller */
function active(
  { agent, killed_at, scopes }: AgentFacts,
  agent_id: string,
  known: { readonly integration: CompiledIntegration; readonly key: ApiKey | null },
  locks: AdmissionFacts['locks'] = null,
): Identified {
  if (agent === null) {
    const data = { claimed_agent_id: agent_id.slice(0, CLAIMED_ID_LIMIT) }
    return { ...no('agent', 'agent_not_found', {}, known), data }
  }
  const has_scope = hasScopeFor(scopes, known.integration)
  if (killed_at !== null)
    return no('agent', 'agent_killed', { killed_at }, { ...known, agent, has_scope })
  if (locks !== null) {
    const subject = subjectOf(agent, known.key, known.integration)
    const lock = findLock(locks.table, subject, locks.at_ms, 'deny')
    if (lock !== null) return locked('agent', lock, locks.at_ms, { ...known, agent, has_scope })
  }
  if (agent.restore_gap !== undefined)
    return no('agent', 'gateway_unavailable', { cause: 'restored' }, { ...known, agent, has_scope })
  return { kind: 'identified', key: known.key, agent, scopes }
}

const no = (
  step: AdmissionStep,
  reason: Reason,
  details: NotAdmitted['details'] = {},
  known: Partial<Known> = {},
): NotAdmitted => ({
  kind: 'not_admitted',
  step,
  reason,
  details,
  known: { integration: null, key: null, agent: null, ...known },
})
