import type { JobOwner } from '../../core/inspection/job-owner.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import { authorityOf } from '../../core/request/authority-of.ts'
import type { CompiledIntegration } from '../../core/decision/compile-integrations.ts'
import { decideScope, overridesIn } from '../../core/decision/decide-scope.ts'
import { isEmpty } from '../../core/request/overrides.ts'
import { findLock } from '../../core/decision/locks.ts'
import type { Target } from '../../core/request/parse-target.ts'
import { appendVia } from '../../core/request/request-headers.ts'
import type { Header } from '../../core/request/header.ts'
import type { RestrictionBoard } from '../kill/restriction-board.ts'
import { clusterVariant, proxiedCluster } from '../../core/store/upstream-cluster.ts'
import type { EgressWay } from '../upstream/egress-ways.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { RateValues } from '../rate/rate-headers.ts'
import type { GatewayAddress } from '../response/gateway-address.ts'
import { inspectResponse } from '../response/inspect-response.ts'
import type { ResponseInspector } from '../verdict/response-inspector.ts'
import type { Standing } from '../verdict/standing.ts'
import { deniedByLock } from '../verdict/denied-by-lock.ts'
import { deny } from '../verdict/step.ts'
import type { SocketPlan } from '../verdict/socket-plan.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { AdmittedCall } from './admit-call.ts'
import { causeOf } from './cause-of.ts'
import type { FilledCredential } from './fill-credential.ts'
import type { SentBody } from './buffer-body.ts'
import { connectionHeaders } from './connection-headers.ts'
import { handshakeHeaders, NO_HANDSHAKE } from './handshake-headers.ts'
import { retryOf } from './retry-of.ts'

export interface ForwardServices {
  readonly killBoard: Pick<RestrictionBoard, 'killedAt' | 'locksOf'>
  readonly nowMs: () => number
  /** Whether the liveness lease is held. */
  readonly mayServe: () => boolean
  /** Why no decision can be made now, for the caller; null if that is not known. */
  readonly whyUnavailable: (error: unknown) => string | null
  readonly pool: ScanPool
  readonly settings: {
    readonly max_body_bytes: number
    readonly verdict_secret: string
    readonly echo_origin: string | null
    readonly gateway: GatewayAddress
  }
}

/** Results of the preceding steps. */
export interface PassedSteps {
  /** Null if no step read it. */
  readonly body: SentBody | null
  readonly credential: FilledCredential
  readonly installation: string
  /** For the response headers; null if there is no limit. */
  readonly rate: RateValues | null
  readonly lists_tools: boolean
  readonly has_body: boolean
  /** Whether the caller addresses the API itself, through the forward proxy. */
  readonly is_proxied: boolean
  readonly standing: Standing
  readonly way: Exclude<EgressWay, { kind: 'refused' }>
  /** Null for a call that is no WebSocket. */
  readonly socket: SocketPlan | null
}

type ForwardedRecord = Pick<CallRecord, 'note' | 'foundInResponse' | 'passedUnscanned' | 'leftOut'>

/** A response is judged also if its caller has left. */
const ownerOf = ({ organization_id, agent_id }: AdmittedCall['agent']): JobOwner => ({
  organization_id,
  agent_id,
  isGone: () => false,
})

/** The last look at kill, locks and lease, and the header mutations that make Envoy forward the call. */
export function forwardCall(
  services: ForwardServices,
  call: AdmittedCall,
  steps: PassedSteps,
  record: ForwardedRecord,
): Verdict {
  const { body, credential, installation, rate, lists_tools, standing, socket } = steps
  const { killBoard, mayServe, whyUnavailable, settings } = services
  const { head, agent, outgoing } = call
  const { cookie, remove } = outgoing
  // The last check before the verdict. Nothing is awaited between here and the response.
  const killed_at = killBoard.killedAt(agent.organization_id, agent.agent_id)
  if (killed_at !== null) return deny('agent', 'agent_killed', { killed_at }, { status: 503 })
  const locks = killBoard.locksOf(agent.organization_id)
  if (locks !== null) {
    const { subject } = standing
    const at_ms = services.nowMs()
    const lock = findLock(locks, subject, at_ms, subject.is_reading ? 'deny' : 'any')
    if (lock !== null)
      return { kind: 'deny', step: 'agent', denial: deniedByLock(lock, at_ms, { status: 503 }) }
  }
  if (!mayServe()) return deny('lease', 'gateway_unavailable', causeOf(whyUnavailable(null)))
  record.note('credential', 'pass')
  const asks_events = head.method === 'GET' && acceptsEvents(outgoing.headers)
  const inspector = inspectorOf(services, call, steps, record, asks_events)
  const set = routeHeaders(call, steps, settings)
  const handshake = socket === null ? NO_HANDSHAKE : handshakeHeaders(outgoing.headers, socket)
  set.push(...handshake.set)
  // Before the credential is added, because it may itself be a cookie.
  if (cookie !== null) set.push({ name: 'cookie', value: cookie })
  set.push(...credential.headers)
  if (inspector.may_read_body)
    set.push(
      ...readableEncodings(
        outgoing.headers,
        lists_tools || asks_events || credential.echo_secrets.length > 0,
      ),
    )
  if (installation !== '')
    set.push({ name: 'via', value: appendVia(outgoing.headers, installation) })
  if (body?.is_stripped && head.content_length !== null)
    set.push({ name: 'content-length', value: String(body.bytes.length) })
  return {
    kind: 'forward',
    ...(socket === null ? {} : { socket }),
    inspector,
    rate,
    standing,
    changes: {
      set,
      remove: [...remove.filter((name) => isOursToRemove(name, socket)), ...handshake.remove],
      body: body?.is_stripped ? body.bytes : null,
    },
  }
}

/** What Envoy chooses the route by. */
function routeHeaders(
  call: AdmittedCall,
  { credential, has_body, way }: PassedSteps,
  settings: ForwardServices['settings'],
): Header[] {
  const { head, integration, target, is_socket } = call
  const { scheme } = target
  const { raw_path } = credential
  const is_echo = integration.base.origin === settings.echo_origin
  const is_proxied = way.kind === 'proxied'
  const path = credential.raw_query === null ? raw_path : `${raw_path}?${credential.raw_query}`
  const kind = is_socket && scheme === 'https' ? 'wss' : scheme
  const is_strict = integration.is_unlisted && !is_proxied
  const set: Header[] = [
    { name: ':path', value: path },
    { name: 'x-agw-host', value: authorityOf(integration.base) },
    { name: 'x-agw-up', value: is_strict ? `unlisted-${scheme}` : is_echo ? 'echo' : kind },
    { name: 'x-agw-pass', value: settings.verdict_secret },
    { name: 'x-agw-base-url', value: integration.base.base_url },
    ...(is_proxied ? [{ name: 'x-agw-connect', value: way.connect }] : []),
  ]
  const { method, content_length } = head
  const { overrides } = call
  const is_once = call.approval !== null
  const retry = is_socket ? null : retryOf({ method, has_body, content_length, overrides, is_once })
  const { clusters } = call.organization
  const hasOwn = !is_echo && integration.listing === null
  const own = (hasOwn ? clusters.get(integration.integration.integration_id) : null) ?? null
  const shared = is_proxied ? proxiedCluster(kind) : null
  const cluster = own === null ? shared : clusterVariant(own, { is_socket, is_proxied })
  set.push(...connectionHeaders(integration.integration, cluster, retry))
  return set
}

function inspectorOf(
  { pool, settings }: ForwardServices,
  call: AdmittedCall,
  { credential, lists_tools, is_proxied }: PassedSteps,
  record: ForwardedRecord,
  asks_events: boolean,
): ResponseInspector {
  const { head, integration, target } = call
  return inspectResponse({
    place: {
      target,
      base_url: integration.base.base_url,
      integration,
      integrations: call.integrations,
      mayCall: (method, to, at) => mayCall(call, method, to, at),
      method: head.method,
      is_proxied,
      path: head.path,
      called: is_proxied ? UNNAMED : head,
      gateway: settings.gateway,
      may_switch: call.is_socket,
    },
    settings: call.settings,
    pool,
    owner: ownerOf(call.agent),
    limit_bytes: settings.max_body_bytes,
    echo_forms: credential.echo_forms,
    echo_secrets: credential.echo_secrets,
    onUnauthorized: credential.onUnauthorized,
    lists_tools,
    is_get: head.method === 'GET',
    asks_events,
    onFinding: (data) => record.foundInResponse(data),
    onLeftOut: (headers) => record.leftOut(headers),
    onUnscanned: (limit) => record.passedUnscanned(limit),
  })
}

/** The caller of the forward proxy names the API. */
const UNNAMED = { authority: '', scheme: 'http', forwarded_host: null } as const

/** A call of which the URL, and the headers of this call that clients repeat, name nothing else that an API might do instead. */
const mayCall = (
  { agent_scopes, integrations, overrides }: AdmittedCall,
  method: string,
  target: Target,
  integration: CompiledIntegration,
): boolean =>
  isEmpty(overrides) &&
  isEmpty(overridesIn(target)) &&
  decideScope(agent_scopes, integrations, { method, target, integration }).kind === 'allowed'

/**
 * Headers that Envoy itself removes: a processor must not change `x-envoy-…`, and no route matches without `x-forwarded-proto`.
 */
const isOursToRemove = (name: string, socket: SocketPlan | null): boolean =>
  !name.startsWith('x-envoy-') &&
  name !== 'x-forwarded-proto' &&
  (socket === null || (name !== 'upgrade' && name !== 'connection'))

const acceptsEvents = (headers: readonly Header[]): boolean =>
  headers.some(
    ({ name, value }) => name === 'accept' && value.toLowerCase().includes('text/event-stream'),
  )

const READABLE = ['gzip', 'deflate', 'br', 'identity']

/**
 * The response must have an encoding that can be decoded (threat model, rule 13). A list of tools that is filtered, and
 * events that are read one by one, are asked for uncompressed.
 */
function readableEncodings(headers: readonly Header[], is_plain: boolean): readonly Header[] {
  const asked = headers.find(({ name }) => name === 'accept-encoding')
  if (asked === undefined) return []
  const kept = is_plain
    ? []
    : asked.value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => READABLE.includes(item.split(';', 1)[0]?.trim().toLowerCase() ?? ''))
  return [{ name: 'accept-encoding', value: kept.length === 0 ? 'identity' : kept.join(', ') }]
}
