import { randomBytes } from 'node:crypto'
import type { Caller } from '../../core/decision/admission-facts.ts'
import { isNamedHost } from '../../core/decision/also-hosts.ts'
import { checkKey } from '../../core/decision/check-key.ts'
import type { Agent, ApiKey } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import { findLock, type LockSubject } from '../../core/decision/locks.ts'
import { targetProblemDetails } from '../../core/request/target-problem-details.ts'
import type { CallIo } from '../call/call-io.ts'
import { callerOfHash } from '../call/caller-of-hash.ts'
import { causeOf } from '../call/cause-of.ts'
import type { DecisionServices } from '../call/decide-call.ts'
import { denyWay } from '../call/deny-way.ts'
import { readAgentFacts } from '../call/read-agent-facts.ts'
import { hasNewExpiry } from '../call/review-call.ts'
import type { CallsInFlight } from '../kill/calls-in-flight.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { Denial } from '../verdict/denial.ts'
import {
  NOTHING_REMOVED,
  UNCHANGED,
  type ResponseInspector,
} from '../verdict/response-inspector.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { DIRECT, type EgressWay } from '../upstream/egress-ways.ts'
import { type Deny, deny } from '../verdict/step.ts'
import type { Verdict } from '../verdict/verdict.ts'
import { proxyCredentials } from './proxy-credentials.ts'
import { readAuthority, type TunnelAuthority } from './read-authority.ts'
import type { TunnelSeal } from './tunnel-seal.ts'

export type TunnelServices = Pick<
  DecisionServices,
  | 'policy'
  | 'killBoard'
  | 'mayServe'
  | 'whyUnavailable'
  | 'takeRate'
  | 'nowMs'
  | 'caughtUp'
  | 'egress'
> & {
  readonly inFlight: Pick<CallsInFlight, 'tunnels'>
  readonly seal: TunnelSeal
  readonly settings: {
    readonly verdict_secret: string
    readonly tunnels_per_agent: number
    readonly connects_per_minute: number
    /** `host:port` in canonical form. */
    readonly blind_hosts: ReadonlySet<string>
  }
}

/** Who opens a tunnel, or calls by the absolute form of a URL. */
export interface ProxyCaller {
  readonly key: ApiKey
  readonly agent_id: string
}

/** The limit of CONNECTs is counted like that of a scope; no scope has this id. */
const RATE_ID = 'forward'
const TUNNEL_ID_BYTES = 16
const CHALLENGE: Header = {
  name: 'proxy-authenticate',
  value: 'Basic realm="agw", charset="UTF-8"',
}

/**
 * Decides a CONNECT of a known key: the agent, its kill, and how many tunnels it may have. What may be called is decided inside, for
 * each call, since a client cannot read why a CONNECT was refused.
 * @throws (rejects) on a bug or an outage; the tunnel is then refused
 */
export async function decideTunnel(
  services: TunnelServices,
  caller: ProxyCaller,
  headers: readonly Header[],
  io: CallIo,
  record: CallRecord,
): Promise<Verdict> {
  const { mayServe, whyUnavailable, policy, killBoard } = services
  const {
    key: { organization_id },
    agent_id,
  } = caller
  const authority = readAuthority(headers, null)
  if (typeof authority === 'string')
    return deny('target', 'invalid_target_url', targetProblemDetails(authority))
  record.facts.data['tunnel'] = `${authority.host}:${authority.port}`
  if (headers.some(({ name }) => FRAMES_BODY.has(name))) return deny('target', 'bad_request')
  record.note('target', 'pass')
  const asked = {
    kind: 'missing',
    fact: 'agent',
    organization_id,
    agent_id,
    is_calling: true,
  } as const
  const facts = await readAgentFacts({ policy, killBoard }, io, asked)
  if (facts.agent === null) return deny('agent', 'agent_not_found')
  record.facts.agent_name = facts.agent.agent_name
  if (facts.killed_at !== null) return deny('agent', 'agent_killed', { killed_at: facts.killed_at })
  if (facts.agent.restore_gap !== undefined)
    return deny('agent', 'gateway_unavailable', { cause: 'restored' })
  // Its locks are read with it.
  await policy.organization(organization_id)
  const subject = tunnelSubject(facts.agent, caller)
  const early = lockedTunnel(services, subject, true)
  if (early !== null) return early
  record.note('agent', 'pass')
  const limited = await checkLimits(services, caller)
  if (limited !== null) return limited
  const tunnel = await kindOfTunnel(services, organization_id, authority)
  const way = tunnel === 'blind' ? await wayOfBlind(services, authority) : DIRECT
  if (way.kind === 'refused') return denyWay(`https://${authority.host}:${authority.port}`, way)
  const admitted_ms = services.nowMs()
  const caughtUp = services.caughtUp()
  if (caughtUp !== null) await caughtUp
  // The last check before the verdict. Nothing is awaited between here and the response.
  const killed_at = killBoard.killedAt(organization_id, agent_id)
  if (killed_at !== null) return deny('agent', 'agent_killed', { killed_at })
  const is_reading = tunnel === 'intercepted'
  const lock = lockedTunnel(services, subject, is_reading)
  if (lock !== null) return lock
  if (!mayServe()) return deny('lease', 'gateway_unavailable', causeOf(whyUnavailable(null)))
  return {
    kind: 'forward',
    tunnel,
    standing: {
      key_hash: caller.key.hash,
      subject: { ...subject, is_reading },
      review: () => reviewTunnel(services, caller, authority, tunnel, admitted_ms),
    },
    inspector: UNSEEN,
    rate: null,
    changes: {
      set: tunnelHeaders(services, caller, authority, tunnel === 'blind' ? way : null),
      remove: ['proxy-authorization'],
      body: null,
    },
  }
}

const tunnelSubject = (
  agent: Agent,
  { key }: ProxyCaller,
): LockSubject & { readonly agent: Agent } => ({
  agent,
  key_id: key.key_id,
  integration_id: null,
  scope_id: null,
})

/** @param is_reading calls inside are decided one by one; what passes through a blind tunnel may do anything */
function lockedTunnel(
  { killBoard, nowMs }: TunnelServices,
  subject: LockSubject & { readonly agent: Agent },
  is_reading: boolean,
): Deny | null {
  const at_ms = nowMs()
  const table = killBoard.locksOf(subject.agent.organization_id)
  const lock = findLock(table, subject, at_ms, is_reading ? 'deny' : 'any')
  return lock === null ? null : { kind: 'deny', step: 'agent', denial: deniedByLock(lock, at_ms) }
}

/** @param blind how a tunnel that is passed through connects; null for one whose calls are decided */
function tunnelHeaders(
  { seal, settings }: TunnelServices,
  caller: ProxyCaller,
  authority: TunnelAuthority,
  blind: Exclude<EgressWay, { kind: 'refused' }> | null,
): Header[] {
  const pass = { name: 'x-agw-pass', value: settings.verdict_secret }
  if (blind === null)
    return [
      { name: 'x-agw-up', value: 'tunnel' },
      pass,
      { name: 'x-agw-tunnel', value: seal.write(tunnelFacts(caller, authority)) },
      { name: 'x-agw-host', value: authority.host },
    ]
  const is_proxied = blind.kind === 'proxied'
  return [
    { name: 'x-agw-up', value: is_proxied ? 'blind-proxied' : 'blind' },
    pass,
    { name: 'x-agw-host', value: `${authority.host}:${authority.port}` },
    ...(is_proxied ? [{ name: 'x-agw-connect', value: blind.connect }] : []),
  ]
}

/** The operator has named these hosts, so they may be at the private addresses that are allowed. */
const wayOfBlind = ({ egress }: TunnelServices, { host, port }: TunnelAuthority) =>
  egress.wayTo(host, port, false)

/** The checks of the caller again, and whether the tunnel may still be of its kind. */
async function reviewTunnel(
  services: TunnelServices,
  { key, agent_id }: ProxyCaller,
  authority: TunnelAuthority,
  tunnel: 'intercepted' | 'blind',
  admitted_ms: number,
): Promise<Denial | null> {
  const { policy, nowMs } = services
  const { organization_id } = key
  const found = await callerOfHash(policy, key.hash, { kind: 'authorization' })
  if (found.kind !== 'known') return deny('agent', 'invalid_api_key').denial
  const now_ms = hasNewExpiry(found, key) ? nowMs() : admitted_ms
  const problem = checkKey(found.key, now_ms)
  if (problem === 'revoked_by_kill')
    return deny('agent', 'agent_killed', { killed_at: found.key.revoked_at }).denial
  if (problem !== null) return deny('agent', problem).denial
  const { agent_ids } = found.key
  if (agent_ids !== null && !agent_ids.includes(agent_id))
    return deny('agent', 'key_not_allowed').denial
  const { agent, scopes } = await policy.agent(organization_id, agent_id)
  if (agent === null) return deny('agent', 'agent_not_found').denial
  await policy.organization(organization_id)
  const locked = lockedTunnel(
    services,
    tunnelSubject(agent, { key, agent_id }),
    tunnel === 'intercepted',
  )
  if (locked !== null) return locked.denial
  const kind = await kindOfTunnel(services, organization_id, authority)
  if (kind === tunnel || tunnel === 'intercepted') return null
  // Calls of an integration must be decided one by one.
  return deny('scope', 'permission_denied', {
    service: authority.host,
    attempted_action: `CONNECT ${authority.host}:${authority.port}`,
    reason: 'method_not_allowed',
    agent_scopes: scopes.names,
  }).denial
}

/** A CONNECT has no body (RFC 9110, 9.3.6); one that declares it is read differently by different proxies. */
const FRAMES_BODY: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

/** Whose key it is. The agent is not read yet. */
export async function findProxyCaller(
  { policy, nowMs }: Pick<TunnelServices, 'policy' | 'nowMs'>,
  headers: readonly Header[],
  { facts }: CallRecord,
): Promise<Deny | { readonly kind: 'found'; readonly caller: ProxyCaller }> {
  const presented = proxyCredentials(headers)
  if (presented === null) return challenge('authentication_required')
  if (presented === 'ambiguous' || presented.key_hash === null) return challenge('invalid_api_key')
  const caller: Caller = await callerOfHash(policy, presented.key_hash, { kind: 'authorization' })
  if (caller.kind !== 'known') return challenge('invalid_api_key')
  const { key } = caller
  facts.organization_id = key.organization_id
  facts.key_id = key.key_id
  facts.agent_id = key.agent_id
  const problem = checkKey(key, nowMs())
  if (problem === 'revoked_by_kill')
    return deny('agent', 'agent_killed', { killed_at: key.revoked_at })
  if (problem === 'invalid_api_key') return challenge(problem)
  if (problem !== null) return deny('agent', problem)
  const agent_id = key.agent_id ?? presented.user
  if (agent_id === '') return deny('agent', 'agent_id_required')
  // With a key of its own any user name will do, except that of another agent.
  if (key.agent_id !== null && NAMES_AGENT.test(presented.user) && presented.user !== agent_id)
    return deny('agent', 'agent_mismatch')
  if (key.agent_ids !== null && !key.agent_ids.includes(agent_id))
    return deny('agent', 'key_not_allowed')
  return { kind: 'found', caller: { key, agent_id } }
}

const NAMES_AGENT = /^agt_/

const challenge = (reason: 'authentication_required' | 'invalid_api_key'): Deny =>
  deny('agent', reason, {}, { status: 407, headers: [CHALLENGE] })

async function checkLimits(
  { inFlight, takeRate, whyUnavailable, settings }: TunnelServices,
  { key: { organization_id }, agent_id }: ProxyCaller,
): Promise<Deny | null> {
  const { tunnels_per_agent, connects_per_minute } = settings
  const limit = { organization_id, agent_id, scope_id: RATE_ID, limit: connects_per_minute }
  const taken = await takeRate(limit).catch(
    (error: unknown) => ({ kind: 'failed', error }) as const,
  )
  if (taken.kind === 'failed')
    return deny('rate', 'gateway_unavailable', causeOf(whyUnavailable(taken.error)))
  if (taken.kind === 'refused')
    return tooMany({ connects_per_minute, retry_after_seconds: taken.retry_after_s })
  return inFlight.tunnels(organization_id, agent_id) >= tunnels_per_agent
    ? tooMany({ tunnels_per_agent, retry_after_seconds: 1 })
    : null
}

const tooMany = (details: Readonly<Record<string, number>>): Deny =>
  deny('rate', 'tunnel_limit_exceeded', details, {
    headers: [{ name: 'retry-after', value: String(details['retry_after_seconds'] ?? 1) }],
  })

/** A host of an integration is never passed through, or its scopes could be avoided by the choice of a port or a scheme. */
async function kindOfTunnel(
  { policy, settings }: TunnelServices,
  organization_id: string,
  { host, port }: TunnelAuthority,
): Promise<'intercepted' | 'blind'> {
  if (!settings.blind_hosts.has(`${host}:${port}`)) return 'intercepted'
  const { table } = await policy.organization(organization_id)
  return isNamedHost(table, host) ? 'intercepted' : 'blind'
}

const tunnelFacts = ({ key, agent_id }: ProxyCaller, { host, port }: TunnelAuthority) => ({
  tunnel_id: randomBytes(TUNNEL_ID_BYTES).toString('base64url'),
  organization_id: key.organization_id,
  agent_id,
  key_hash: key.hash,
  is_named: key.agent_id === null,
  host,
  port,
})

/** The answer to a CONNECT is Envoy's own. */
const UNSEEN: ResponseInspector = {
  sees_every_response: false,
  may_read_body: false,
  headers: (headers) => ({ kind: 'pass', headers, body: 'unseen' }),
  cleaned: (headers) => headers,
  body: () => Promise.resolve(UNCHANGED),
  trailers: () => NOTHING_REMOVED,
  close: () => undefined,
}
