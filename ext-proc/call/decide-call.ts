import type { Agent, ApiKey } from '../../core/model.ts'
import { appendVia, hasOwnVia, headersToRemove } from '../../core/policy/request-headers.ts'
import { applyCredential } from '../../core/policy/apply-credential.ts'
import { baseUrlOfTarget } from '../../core/policy/base-url-of-target.ts'
import { chooseScope, type ScopeChoice, type ScopedCall } from '../../core/policy/choose-scope.ts'
import type { CompiledIntegration } from '../../core/policy/compile-integrations.ts'
import { describeAction, describeEndpoint } from '../../core/policy/describe-call.ts'
import type { Header } from '../../core/policy/header.ts'
import { matchIntegration } from '../../core/policy/match-integration.ts'
import type { OwnedName } from '../../core/policy/owned-name.ts'
import { parseTarget, type Target } from '../../core/policy/parse-target.ts'
import type { KeyPlace } from '../../core/policy/read-key.ts'
import type { Reason } from '../../core/reasons.ts'
import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import type { KillBoard } from '../edge/kill-board.ts'
import type { AgentPolicy, OrganizationPolicy, PolicyStore } from '../edge/policy-store.ts'
import type { CallRecord } from './call-record.ts'
import type { Answer, CallIo, CallStreamParts } from './call-stream.ts'
import { findPresentedKey, type Presented } from './identify.ts'
import { readHead, type RequestHead } from './read-head.ts'
import { type BodyIdentity, isForm, readBodyIdentity } from './read-body-identity.ts'
import { overriddenCalls } from './overridden-calls.ts'

export interface DeciderParts {
  readonly policy: PolicyStore
  readonly killBoard: KillBoard
  readonly recorder: ActivityRecorder
  /** Whether the hearing lease is held. */
  readonly mayServe: () => boolean
  readonly nowMs: () => number
  readonly settings: {
    readonly organization_id: string
    readonly max_body_bytes: number
    readonly verdict_secret: string
    readonly echo_origin: string | null
  }
  /** The name in `Via`; empty while the store has none. */
  readonly installation: () => Promise<string>
}

/** What every later step needs. */
interface Call {
  readonly parts: DeciderParts
  readonly headers: readonly Header[]
  readonly head: RequestHead
  readonly io: CallIo
  readonly record: CallRecord
}

interface Identity {
  readonly agent: Agent
  readonly key: ApiKey
  readonly policy: AgentPolicy
  /** What the body says, where it had to be read for it. */
  readonly body: BodyIdentity | null
}

type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly answer: Answer }

const given = <T>(value: T): Step<T> => ({ ok: true, value })

function deny(record: CallRecord, step: string, reason: Reason, details: Readonly<Record<string, unknown>> = {}): Answer {
  record.mark(step, 'deny')
  return { kind: 'deny', denial: { reason, details } }
}

const refuse = (...args: Parameters<typeof deny>): { readonly ok: false; readonly answer: Answer } => ({
  ok: false,
  answer: deny(...args),
})

export const makeDecider =
  (parts: DeciderParts): CallStreamParts['decide'] =>
  (headers, io, record) =>
    decide({ parts, headers, io, record, head: readHead(headers) })

/** Asks the questions of contract §3 in their order; the first no answers. */
async function decide(call: Call): Promise<Answer> {
  const { parts, headers, head, record } = call
  if (!parts.mayServe()) return deny(record, 'lease', 'gateway_unavailable')

  const installation = await parts.installation()
  const aimed = findTarget(call, installation)
  if (!aimed.ok) return aimed.answer
  const target = aimed.value

  const presented = await findPresentedKey(parts.policy, headers, target.raw_query)
  const organization_id =
    presented.kind === 'known' ? presented.key.organization_id : parts.settings.organization_id
  if (presented.kind === 'known') record.facts.organization_id = organization_id
  const found = parts.policy.organization(organization_id)
  const organization = found instanceof Promise ? await found : found
  const covered = findIntegration(call, organization, target)
  if (!covered.ok) return covered.answer
  const integration = covered.value

  const identified = await identifyAgent(call, ownPlaceOnly(presented, integration.owned), integration)
  if (!identified.ok) return identified.answer
  const identity = identified.value

  const scoped = checkScope(call, identity, integration, target, overriddenCalls(headers, head.method, target, integration.base, null))
  if (!scoped.ok) return scoped.answer
  const scope = scoped.value

  const read = await readNeededBody(call, identity, scope, integration)
  if (!read.ok) return read.answer
  const { body, identity_in_body } = read.value
  if (body !== null && isForm(head.content_type)) {
    const calls = overriddenCalls(headers, head.method, target, integration.base, body)
    const again = checkScope(call, identity, integration, target, calls)
    if (!again.ok) return again.answer
  }
  record.mark('body', 'pass')
  return forward(call, { identity, identity_in_body, integration, organization, target, body, installation })
}

/** Step 1. */
function findTarget({ head, headers, record }: Call, installation: string): Step<Target> {
  if (head.method === 'CONNECT') return refuse(record, 'target', 'upgrade_not_supported')
  const parsed = parseTarget(head.path)
  if (!parsed.ok) return refuse(record, 'target', 'invalid_target_url', { reason: parsed.reason })
  record.facts.endpoint = describeEndpoint(parsed.target)
  if (head.is_upgrade) return refuse(record, 'target', 'upgrade_not_supported')
  if (installation !== '' && hasOwnVia(headers, installation)) return refuse(record, 'target', 'loop_detected')
  record.mark('target', 'pass')
  return given(parsed.target)
}

/** Step 2. */
function findIntegration({ record }: Call, organization: OrganizationPolicy, target: Target): Step<CompiledIntegration> {
  const integration = matchIntegration(organization.table, target)
  if (target.has_empty_segment && !integration?.integration.allow_empty_segments)
    return refuse(record, 'target', 'invalid_target_url', { reason: 'empty_segment' })
  if (integration === null)
    return refuse(record, 'integration', 'integration_not_found', { base_url: baseUrlOfTarget(target) })
  record.facts.integration_id = integration.integration.integration_id
  record.mark('integration', 'pass')
  return given(integration)
}

/** A key that lies in a header which this integration's credential does not own is not presented to us. */
function ownPlaceOnly(presented: Presented, owned: OwnedName): Presented {
  if (presented.kind !== 'known' && presented.kind !== 'unknown') return presented
  const { place } = presented
  const isOurs = place.kind === 'authorization' || (place.kind === owned.kind && place.name === owned.name)
  return isOurs ? presented : { kind: 'none' }
}

/** Step 3. */
async function identifyAgent(call: Call, presented: Presented, integration: CompiledIntegration): Promise<Step<Identity>> {
  const { record, head, parts } = call
  switch (presented.kind) {
    case 'none':
      return refuse(record, 'agent', 'authentication_required')
    case 'ambiguous':
      return refuse(record, 'agent', 'ambiguous_request', { reason: presented.reason })
    case 'unknown':
      return refuse(record, 'agent', 'invalid_api_key')
    case 'known':
      break
  }
  const { key } = presented
  record.facts.key_id = key.key_id
  const refused = await checkKey(call, key)
  if (refused !== null) return refused
  if (head.agent_ids.length > 1) return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id_header' })
  const named = await nameAgent(call, key, integration)
  if (!named.ok) return named
  const { agent_id, body } = named.value
  if (key.agent_ids !== null && !key.agent_ids.includes(agent_id)) return refuse(record, 'agent', 'key_not_allowed')
  const found = parts.policy.agent(key.organization_id, agent_id)
  const policy = found instanceof Promise ? await found : found
  if (policy.agent === null) {
    record.facts.data['claimed_agent_id'] = agent_id.slice(0, 128)
    return refuse(record, 'agent', 'agent_not_found')
  }
  record.facts.agent_id = agent_id
  record.facts.agent_name = policy.agent.agent_name
  // Held before it is looked at: a kill that comes between finds the call.
  call.io.hold(key.organization_id, agent_id)
  const killed_at = killedAt(parts, policy.agent)
  if (killed_at !== null) return refuse(record, 'agent', 'agent_killed', { killed_at })
  record.mark('agent', 'pass')
  return given({ agent: policy.agent, key, policy, body })
}

const killedAt = ({ killBoard }: DeciderParts, agent: Agent): string | null =>
  killBoard.killedAt(agent.organization_id, agent.agent_id) ??
  // A store that was read before the flag was heard of counts as well, unless a reactivation is known since.
  (agent.status === 'killed' && (killBoard.known(agent.organization_id, agent.agent_id)?.revision ?? 0) <= agent.revision
    ? (agent.killed_at ?? agent.created_at)
    : null)

/** Null when the key may be used here. */
async function checkKey({ parts, record }: Call, key: ApiKey): Promise<Step<never> | null> {
  if (key.revoked_at !== null) {
    if (key.revoked_by !== 'kill' || key.agent_id === null) return refuse(record, 'agent', 'invalid_api_key')
    const found = parts.policy.agent(key.organization_id, key.agent_id)
    const { agent } = found instanceof Promise ? await found : found
    const killed_at = agent === null ? null : killedAt(parts, agent)
    if (agent === null || killed_at === null) return refuse(record, 'agent', 'invalid_api_key')
    record.facts.agent_id = agent.agent_id
    record.facts.agent_name = agent.agent_name
    return refuse(record, 'agent', 'agent_killed', { killed_at })
  }
  if (key.expires_at !== null && Date.parse(key.expires_at) <= parts.nowMs())
    return refuse(record, 'agent', 'invalid_api_key')
  if (!key.uses.includes('proxy')) return refuse(record, 'agent', 'key_not_allowed')
  return null
}

/** The agent's id: the key's own, else the header's, else the body's. */
async function nameAgent(
  call: Call,
  key: ApiKey,
  integration: CompiledIntegration,
): Promise<Step<{ readonly agent_id: string; readonly body: BodyIdentity | null }>> {
  const { head, record } = call
  const [named] = head.agent_ids
  if (key.agent_id !== null) {
    if (named !== undefined && named !== key.agent_id) return refuse(record, 'agent', 'agent_mismatch')
    return given({ agent_id: key.agent_id, body: null })
  }
  if (named !== undefined) return named === '' ? refuse(record, 'agent', 'agent_id_required') : given({ agent_id: named, body: null })
  const bytes = await holdBody(call, call.parts.settings.max_body_bytes, 'agent')
  if (!bytes.ok) return bytes
  if (head.content_encoding !== null && bytes.value.length > 0)
    return refuse(record, 'agent', 'unsupported_content_encoding', { content_encoding: head.content_encoding })
  const body = readBodyIdentity(bytes.value, head, integration.integration.strip_agent_id)
  if (body.kind === 'ambiguous') return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  if (body.kind === 'none') return refuse(record, 'agent', 'agent_id_required')
  return given({ agent_id: body.agent_id, body })
}

/** The whole body, unless it is over the limit by its own word or in fact. */
async function holdBody({ head, io, record }: Call, limit_bytes: number, step: string): Promise<Step<Buffer>> {
  if (head.content_length !== null && head.content_length > limit_bytes)
    return refuse(record, step, 'request_too_large', { limit_bytes })
  const body = await io.body()
  record.facts.bytes_in = body.length
  return body.length > limit_bytes ? refuse(record, step, 'request_too_large', { limit_bytes }) : given(body)
}

type AllowedScope = Extract<ScopeChoice, { kind: 'allowed' }>

/** Steps 4 and 5. */
function checkScope(
  { record, head }: Call,
  { policy }: Identity,
  { integration, base }: CompiledIntegration,
  target: Target,
  overridden: readonly ScopedCall[] | null,
): Step<AllowedScope> {
  const asked: ScopedCall = { method: head.method, segments: target.segments, from: base.segments.length }
  const choice: ScopeChoice =
    overridden === null
      ? { kind: 'denied', reason: 'path_not_allowed', agent_scopes: policy.scopes.names, call: asked }
      : chooseScope(policy.scopes, integration.integration_id, asked, overridden)
  if (choice.kind === 'denied') {
    return refuse(record, 'scope', 'permission_denied', {
      service: integration.name,
      attempted_action: describeAction(head.method, target, base),
      reason: choice.reason,
      agent_scopes: choice.agent_scopes,
    })
  }
  record.facts.scope_id = choice.scope.scope_id
  record.facts.rule = choice.rule
  record.mark('scope', 'pass')
  return given(choice)
}

/** Holds the body where something must look at it; every other body streams through. */
async function readNeededBody(
  call: Call,
  identity: Identity,
  { settings }: AllowedScope,
  { integration }: CompiledIntegration,
): Promise<Step<{ readonly body: Buffer | null; readonly identity_in_body: BodyIdentity | null }>> {
  const { parts, head, record } = call
  const isNeeded =
    identity.body !== null || settings.injection.enabled || !settings.tools.is_unrestricted || isForm(head.content_type)
  if (!isNeeded) return given({ body: null, identity_in_body: null })
  const limit_bytes = Math.min(parts.settings.max_body_bytes, settings.max_body_bytes ?? Number.POSITIVE_INFINITY)
  const held = await holdBody(call, limit_bytes, 'body')
  if (!held.ok) return held
  const body = held.value
  if (identity.body !== null || head.content_encoding !== null || body.length === 0)
    return given({ body, identity_in_body: identity.body })
  const said = readBodyIdentity(body, head, integration.strip_agent_id)
  if (said.kind === 'ambiguous') return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  if (said.kind === 'none') return given({ body, identity_in_body: null })
  if (said.agent_id === identity.agent.agent_id) return given({ body, identity_in_body: said })
  if (identity.key.agent_id === null) return refuse(record, 'agent', 'ambiguous_request', { reason: 'agent_id' })
  const found = parts.policy.agent(identity.agent.organization_id, said.agent_id)
  const { agent } = found instanceof Promise ? await found : found
  // A value that names nobody here is the API's own and passes untouched.
  return agent === null
    ? given({ body, identity_in_body: null })
    : refuse(record, 'agent', 'agent_mismatch')
}

interface Passed {
  readonly identity: Identity
  readonly identity_in_body: BodyIdentity | null
  readonly integration: CompiledIntegration
  readonly organization: OrganizationPolicy
  readonly target: Target
  readonly body: Buffer | null
  readonly installation: string
}

/** The last steps: the credential, and the changes that make Envoy forward the call. */
async function forward(call: Call, passed: Passed): Promise<Answer> {
  const { parts, headers, head, record } = call
  const { identity, integration, organization, target, body, installation } = passed
  const auth = organization.auth.get(integration.integration.integration_id) ?? null
  const effect = auth === null ? null : applyCredential(auth, target.raw_query)
  if (effect?.kind !== 'applied')
    return deny(record, 'credential', 'credential_unavailable', { base_url: integration.base.base_url })
  // The last look before the verdict: nothing is awaited between here and the answer.
  const { agent } = identity
  const killed_at = parts.killBoard.killedAt(agent.organization_id, agent.agent_id)
  if (killed_at !== null) return { kind: 'deny', denial: { reason: 'agent_killed', details: { killed_at }, status: 503 } }
  if (!parts.mayServe()) return deny(record, 'lease', 'gateway_unavailable')
  record.mark('credential', 'pass')
  parts.recorder.used(agent.organization_id, agent.agent_id, identity.key.key_id)
  const cut = body === null ? null : cutBody(body, passed.identity_in_body)
  return {
    kind: 'pass',
    event: 'request_allowed',
    changes: {
      set: [
        { name: ':path', value: effect.raw_query === null ? target.raw_path : `${target.raw_path}?${effect.raw_query}` },
        { name: 'x-agw-host', value: authorityOf(integration) },
        { name: 'x-agw-up', value: integration.base.origin === parts.settings.echo_origin ? 'echo' : target.scheme },
        { name: 'x-agw-pass', value: parts.settings.verdict_secret },
        ...effect.headers,
        ...(installation === '' ? [] : [{ name: 'via', value: appendVia(headers, installation) }]),
        ...(cut === null || head.content_length === null ? [] : [{ name: 'content-length', value: String(cut.length) }]),
      ],
      remove: headersToRemove(headers, integration.owned).filter(isOursToRemove),
      body: cut,
    },
  }
}

/** Null when the body stays as it is. */
function cutBody(body: Buffer, identity: BodyIdentity | null): Buffer | null {
  if (identity === null || identity.kind !== 'named' || identity.cut === null) return null
  const { from, to } = identity.cut
  return Buffer.concat([body.subarray(0, from), body.subarray(to)])
}

/** Envoy's own headers are removed by its routes; a processor may not touch them. */
const isOursToRemove = (name: string): boolean => !name.startsWith('x-envoy-')

/** Host and port come from the integration, never from the caller's text (threats.md 4). */
const authorityOf = ({ base }: CompiledIntegration): string => base.origin.slice(base.origin.indexOf('//') + 2)
