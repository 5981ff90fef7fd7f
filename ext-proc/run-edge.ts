import type { GatewayAddress } from './response/gateway-address.ts'
import { makeProbeCheck } from '../core/control/probe-pass.ts'
import { keyedTextHash } from '../core/scanner/trusted-text.ts'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { raiseAlert } from '../core/alerts/raise-alert.ts'
import { renderEdges } from '../core/metrics/render-edges.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { connectionProblem } from '../core/redis/connection-problem.ts'
import { storeAccess } from '../core/redis/store-access.ts'
import { openScanPool, type ScanPool } from '../core/inspection/scan-pool.ts'
import { warmScanner } from '../core/scanner/warm-scanner.ts'
import { consoleLink } from '../core/settings/console-link.ts'
import { type ConnectRequest, sealConnectToken } from '../core/store/connect-token.ts'
import type { Environment } from '../core/settings/settings.ts'
import { AccessLog, LAST_WORDS_MS } from './access-log/access-log.ts'
import { ActivityRecorder } from './record/activity-recorder.ts'
import { AgentUses } from './record/agent-uses.ts'
import { beginRecord } from './record/begin-record.ts'
import { HeldBytes } from './call/held-bytes.ts'
import { approvalStore } from './call/approval-store.ts'
import { CallStream, type CallStreamParts } from './call/call-stream.ts'
import { patternReporter } from './process/report-patterns.ts'
import { openForwardProxy, type ForwardProxy } from './forward/open-forward-proxy.ts'
import { openEgressWays } from './upstream/egress-ways.ts'
import { ClusterService } from './upstream/cluster-service.ts'
import { decideCall, type DecisionServices } from './call/decide-call.ts'
import { openTokenCache } from './credential/open-token-cache.ts'
import { openReferences } from '../core/secret/open-references.ts'
import type { SecretReferences } from '../core/secret/secret-references.ts'
import type { TokenCache } from './credential/token-cache.ts'
import { afterPause } from './fleet/after-pause.ts'
import { connectEdge, type EdgeConnections } from './fleet/connect-edge.ts'
import type { CallsInFlight } from './kill/calls-in-flight.ts'
import type { LivenessLease } from './fleet/liveness-lease.ts'
import { joinFleet, type Membership } from './fleet/join-fleet.ts'
import { makeAutoKiller } from './kill/make-auto-killer.ts'
import { makeStreamWatches } from './kill/make-stream-watches.ts'
import {
  type EnvoyStream,
  forwardHopOf,
  type ServerOptions,
  startServer,
} from './envoy/start-server.ts'
import type { GrpcServer } from './grpc/grpc-server.ts'
import { deny } from './verdict/step.ts'
import { EdgeMetrics, type OwnNumber } from './record/edge-metrics.ts'
import { TurnsFullError } from './policy/step-turns.ts'
import { edgeLog } from './process/edge-log.ts'
import { onStop, type StopKind } from './process/on-stop.ts'
import { startHealthServer } from './process/start-health-server.ts'
import type { CallTraces } from './trace/call-traces.ts'
import { openTraces } from './trace/open-traces.ts'
import { RateTaker } from './rate/rate-taker.ts'
import { followDoctorPass } from './credential/follow-doctor-pass.ts'
import { type EdgeSettings, readEdgeSettings, tlsOf } from './process/read-edge-settings.ts'

/** How long a stop of the whole gateway waits for calls in flight before it cuts them (threat model, rule 17). */
const QUICK_DRAIN_LIMIT_MS = 5_000
const LEASE_POLL_MS = 25

/** Longer than two intervals of the health check in envoy/bootstrap.yaml: by then Envoy sends new calls to others. */
const FOUND_OUT_MS = 1_000

/** Processes for large bodies: one for the largest, and one that they leave to the others. */
const SCAN_WORKERS = 2
/** Bodies that wait for a scan process, in memory; further ones are refused with 503. */
const SCAN_QUEUE_LIMIT = 256

/** Of Envoy (envoy/render-bootstrap.ts). */
const MESSAGE_TIMEOUT_MS = 20_000
/** A held call is silent. The idle timeout of Envoy, which is never less than this, must not end it. */
const IDLE_TIMEOUT_MIN_MS = 25_000
const IDLE_MARGIN_MS = 5_000

const holdLimit = ({ approvalMaxWait_ms, upstreamIdleTimeout_ms }: EdgeSettings): number =>
  Math.min(
    approvalMaxWait_ms,
    Math.max(upstreamIdleTimeout_ms, IDLE_TIMEOUT_MIN_MS) - IDLE_MARGIN_MS,
  )

/** For the caller of a refused call. */
const NO_LEASE = 'this edge cannot prove that it receives kills, so it accepts no calls'

const nowMs = (): number => performance.now()

/** What the calls of one process share. */
interface Edge {
  readonly settings: EdgeSettings
  readonly connections: EdgeConnections
  readonly fleet: Membership
  readonly recorder: ActivityRecorder
  readonly uses: AgentUses
  readonly tokens: TokenCache
  readonly references: SecretReferences
  readonly scans: { readonly pool: ScanPool; readonly warm: Promise<void> }
  readonly log: Logger
}

/**
 * Runs one ext-proc process until it is stopped.
 * @throws with a message for the operator when a setting is wrong or the address cannot be bound
 */
export async function runEdge(env: Environment): Promise<void> {
  const settings = readEdgeSettings(env)
  const { edgeId: edge_id, region } = settings
  const log = edgeLog('ext-proc', edge_id)
  const health = await startHealthServer(settings.healthAddress)
  const connections = connectEdge(storeAccess(settings, settings.redisUrl), edge_id)
  // On cores of their own, while this thread builds its tables and joins the fleet.
  const reporter = patternReporter({ redis: connections.commands, log, nowMs: Date.now })
  const scans = startScanPool(reporter, settings.edgeStandby)
  warmScanner()
  const recorder = new ActivityRecorder({ redis: connections.commands, nowMs: Date.now, log })
  connections.commands.on('ready', () => recorder.storeMayHaveChanged())
  const uses = new AgentUses(connections.commands, Date.now)
  const fleet = await joinFleet({ settings, connections, uses, log })
  const { inFlight, lease } = fleet
  const metrics = new EdgeMetrics()
  const credentials = openCredentials({ settings, connections, fleet, log })
  const edge = { settings, connections, fleet, recorder, uses, ...credentials, scans, log }
  const { partsOf, forward, traces } = await openCalls(edge, metrics)
  const clusters = openClusters(edge)
  const accessLog = new AccessLog({
    recorder,
    metrics,
    // The processor has seen the same pass before, if it was late.
    isProbe: makeProbeCheck(connections.commands),
    is_stand_in: settings.accessLogAddress !== null,
    log,
    nowMs: Date.now,
  })
  // Calls may be waiting in the socket.
  await Promise.race([firstLease(lease), wait(settings.killLease_ms)])
  let isDraining = false
  const server = await startServer(serverOptions(settings), {
    ext_proc: (stream) => {
      new CallStream(stream, partsOf(stream))
    },
    secrets: forward?.secrets.handler,
    clusters: clusters.handler,
    access_log: accessLog.handler,
    traces: traces?.passOn,
    // Where the successor of this process accepts at the same socket, its calls must not be refused.
    is_serving: async () =>
      (await holdsLease(fleet)) && (!isDraining || settings.extProcFd !== null),
  })
  const published = metrics.publish(
    connections.commands,
    settings.processId,
    (): Record<OwnNumber, number> => ({
      agw_calls_in_flight: inFlight.size,
      agw_tunnels_open: inFlight.tunnels(),
      ...certificateMetrics(forward),
      agw_calls_unwatched_total: inFlight.unwatched.total,
      agw_lease_held: lease.isHeld ? 1 : 0,
      ...recorder.metrics,
      ...(traces?.metrics ?? {
        agw_trace_spans_exported_total: 0,
        agw_trace_spans_dropped_total: 0,
      }),
      agw_token_fetches_total: edge.tokens.counters.fetched,
      agw_token_fetch_failures_total: edge.tokens.counters.failed,
    }),
  )
  health.serves({
    whyNotReady: () => (isDraining ? 'draining' : lease.isHeld ? null : NO_LEASE),
    metrics: () => renderEdges(new Map([[settings.edgeId, published.snapshot()]])),
  })
  log.info({ address: settings.extProcAddress, region }, 'serving')
  void firstLease(lease).then(() => process.send?.({ kind: 'ready' }))

  onStop(async (kind) => {
    isDraining = true
    const stopMetrics = published.stop
    await stopEdge(edge, { kind, server, accessLog, forward, clusters, traces, stopMetrics })
  })
}

const serverOptions = (settings: EdgeSettings): ServerOptions => ({
  address: settings.extProcAddress,
  fd: settings.extProcFd,
  tls: tlsOf(settings),
  message_limit_bytes: settings.maxBodyBytes,
  transport: settings.extProcTransport,
})

interface Stop {
  readonly kind: StopKind
  readonly server: GrpcServer
  readonly accessLog: AccessLog
  readonly forward: ForwardProxy | null
  readonly clusters: { stop(): void }
  readonly traces: CallTraces | null
  readonly stopMetrics: () => Promise<void>
}

/** Takes no new calls, stays an edge until the last call in flight has ended, and cuts what is left at the limit. */
async function stopEdge(edge: Edge, stop: Stop): Promise<void> {
  const { kind, server, accessLog, forward, clusters, traces, stopMetrics } = stop
  const { fleet, recorder, uses, connections, scans } = edge
  const { inFlight } = fleet
  const { drainTimeout_ms } = edge.settings
  const limit_ms =
    kind === 'drain' ? drainTimeout_ms : Math.min(QUICK_DRAIN_LIMIT_MS, drainTimeout_ms)
  fleet.link.drain()
  fleet.held.drain()
  if (edge.settings.extProcFd === null) await wait(FOUND_OUT_MS)
  forward?.stop()
  clusters.stop()
  const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
  const told = endAccessLog(accessLog, inFlight, limit_ms)
  const limit = setTimeout(() => inFlight.cutAll({ reason: 'gateway_unavailable' }), limit_ms)
  const force = setTimeout(() => server.forceShutdown(), limit_ms + 1_000)
  await drained
  await told
  clearTimeout(limit)
  clearTimeout(force)
  fleet.beacon.stop()
  await Promise.allSettled([recorder.stop(), uses.stop(), traces?.stop(), stopMetrics()])
  // The first process of a container waits for its own children only: orphans would stay as zombies.
  await scans.pool.close()
  await fleet.link.stop()
  connections.disconnect()
  process.exit(0)
}

interface Calls {
  readonly partsOf: (stream: EnvoyStream) => CallStreamParts
  readonly forward: ForwardProxy | null
  readonly traces: CallTraces | null
}

/** What the calls of each listener are decided by. */
async function openCalls(edge: Edge, metrics: EdgeMetrics): Promise<Calls> {
  const { settings, connections, fleet, log } = edge
  const { parts, services } = await callParts(edge, metrics)
  const traces = openTraces({ settings, redis: connections.commands, nowMs, log }, () => {
    const installation = services.installation()
    return typeof installation === 'string' ? installation : ''
  })
  const { inFlight, keyRing: ring } = fleet
  const redis = connections.commands
  const forward = openForwardProxy({ settings, services, redis, ring, inFlight, log })
  if (forward !== null) {
    fleet.authority.replace = forward.replaceAuthority
    fleet.authority.catchUp = forward.catchUpAuthority
    fleet.authority.fingerprint = forward.authorityFingerprint
  }
  const shared = { ...parts, traces }
  return { partsOf: (stream) => partsFor(stream, shared, forward), forward, traces }
}

/** Those of a process that stands by would be half of its memory, so they start when it gets a body for them. */
function startScanPool(
  onBadPatterns: ReturnType<typeof patternReporter>,
  isStandby: boolean,
): Edge['scans'] {
  const pool = openScanPool({
    workers: SCAN_WORKERS,
    queue_limit: SCAN_QUEUE_LIMIT,
    onBadPatterns,
  })
  const warm = isStandby ? Promise.resolve() : pool.warm()
  // It is awaited later, and a failure until then must not end the process.
  warm.catch(() => undefined)
  return { pool, warm }
}

interface SharedParts {
  readonly parts: Omit<CallStreamParts, 'traces'>
  readonly services: DecisionServices
}

/** The answer to a health check also waits after a pause: Envoy sends no calls to a process that does not serve. */
async function holdsLease(fleet: Membership): Promise<boolean> {
  await afterPause(fleet)
  return fleet.lease.isHeld
}

const heldBytesOf = (settings: EdgeSettings): HeldBytes =>
  new HeldBytes({
    per_agent: settings.heldBodyBytesPerAgent,
    per_organization: settings.heldBodyBytesPerOrganization,
    timeout_ms: settings.heldBodyTimeout_ms,
  })

function openCredentials({
  settings,
  connections: { commands: redis },
  fleet: { keyRing: ring },
  log,
}: Pick<Edge, 'settings' | 'connections' | 'fleet' | 'log'>): Pick<Edge, 'tokens' | 'references'> {
  const references = openReferences(settings, redis, log)
  return { references, tokens: openTokenCache(settings, { redis, ring, references }, log) }
}

const gatewayOf = (settings: EdgeSettings): GatewayAddress => ({
  hosts: [settings.proxyHost, settings.apiHost].map((host) => host.toLowerCase()),
  ports: [settings.proxyPort, settings.apiPort, settings.forwardPort ?? settings.proxyPort],
  proxy_url: settings.proxyUrl?.replace(/\/+$/, '') ?? null,
})

const connectUrl = ({ settings, fleet }: Edge, request: ConnectRequest): string =>
  consoleLink(settings, 'connect', sealConnectToken(fleet.keyRing, request, fleet.clock.now().ms))

/** What every call is decided by and counted in. */
async function callParts(edge: Edge, metrics: EdgeMetrics): Promise<SharedParts> {
  const { settings, connections, fleet, recorder, uses, tokens, references, scans, log } = edge
  const { edgeId: edge_id, killLease_ms: lease_ms } = settings
  const { commands, kills } = connections
  const rates = new RateTaker(connections.rates, null, commands)
  const { inFlight, killBoard, policy, lease, stall, clock, keyRing: ring } = fleet
  const now = (): Date => new Date(clock.now().ms)
  let installation = ''
  const readDeploymentId = async (): Promise<string> =>
    (installation = (await commands.get(REDIS_KEYS.installation)) ?? installation)
  await readDeploymentId().catch(() => undefined)
  const whyUnavailable = (error: unknown): string | null =>
    error instanceof TurnsFullError
      ? error.message
      : (connectionProblem(commands, error) ?? (lease.isHeld ? null : NO_LEASE))
  await scans.warm
  const services: DecisionServices = {
    policy,
    killBoard,
    uses,
    tokens,
    references,
    mayServe: () => lease.isHeld,
    whyUnavailable,
    caughtUp: () => stall.caughtUp(),
    egress: openEgressWays(settings, nowMs),
    mayAttach: followDoctorPass(settings.doctorPassFile, log),
    connectUrl: (request) => connectUrl(edge, request),
    pool: scans.pool,
    autoKill: makeAutoKiller({ redis: kills, killBoard, lease_ms, edge_id, nowMs, log, now }),
    keyedHash: (organization_id, hash) => keyedTextHash(ring, organization_id, hash),
    holds: { calls: fleet.held, limit_ms: holdLimit(settings), margin_ms: MESSAGE_TIMEOUT_MS },
    approvals: approvalStore({ redis: commands, ring, edge_id, place: settings, log }),
    takeRate: (counter) => rates.take(counter),
    nowMs: fleet.clock.nowMs,
    settings: {
      organization_id: settings.organizationId,
      max_body_bytes: settings.maxBodyBytes,
      verdict_secret: settings.verdictSecret,
      echo_origin: settings.echoOrigin,
      gateway: gatewayOf(settings),
    },
    installation: () => (installation === '' ? readDeploymentId() : installation),
  }
  const parts: SharedParts['parts'] = {
    inFlight,
    reviews: fleet.reviews,
    heldBytes: heldBytesOf(settings),
    recorder,
    metrics,
    log,
    is_strict: settings.activityStrict,
    watchOf: makeStreamWatches({
      unwatched: inFlight.unwatched,
      must_keep: settings.requireOpenStreams,
      nowMs,
      report: () => reportStreams(edge),
    }),
    whyUnavailable,
    isProbe: makeProbeCheck(commands),
    begin: (headers) => beginRecord(headers, edge_id, nowMs, settings.trustedHops, clock.now()),
    afterPause: () => afterPause(fleet),
    decide: (headers, io, record) => decideCall(services, headers, io, record),
  }
  return { parts, services }
}

/** Clusters that no call names any more are withdrawn from Envoy this often. */
const PRUNE_INTERVAL_MS = 60_000

/** What Envoy is told of integrations with connection settings of their own. */
function openClusters({ fleet, log }: Edge): Pick<ClusterService, 'handler' | 'stop'> {
  const service = new ClusterService({ policy: fleet.policy, log })
  const pruning = setInterval(() => {
    service.prune().catch((error: unknown) => {
      log.warn({ error: String(error) }, 'unused clusters could not be withdrawn')
    })
  }, PRUNE_INTERVAL_MS)
  pruning.unref()
  return {
    handler: service.handler,
    stop: () => {
      clearInterval(pruning)
      service.stop()
    },
  }
}

const certificateMetrics = (forward: ForwardProxy | null) => ({
  agw_certificates_issued_total: forward?.secrets.counters.minted ?? 0,
  agw_certificates_held: forward?.secrets.counters.names ?? 0,
})

/** A call of the forward proxy differs from others only in how its target and its key are read. */
function partsFor(
  stream: EnvoyStream,
  parts: CallStreamParts,
  forward: ForwardProxy | null,
): CallStreamParts {
  const hop = forwardHopOf(stream)
  if (hop === null) return parts
  const decide = forward?.decide[hop]
  return { ...parts, decide: decide ?? refuseForward }
}

/** An Envoy has the forward proxy in its configuration, and this process does not. */
const refuseForward: CallStreamParts['decide'] = () =>
  Promise.resolve(deny('target', 'gateway_unavailable', { cause: 'AGW_FORWARD_PORT is off' }))

/** The alert names the edge, so that each edge with such an Envoy has one. */
function reportStreams({ settings, connections, log }: Edge): void {
  const { edgeId: edge_id, organizationId, requireOpenStreams: is_refused } = settings
  const advice = 'Set allow_mode_override: true and response_trailer_mode: SEND in its filter.'
  log.error(
    { is_refused },
    `Envoy closes ext_proc streams early; kills cannot cut calls. ${advice}`,
  )
  raiseAlert(
    connections.commands,
    organizationId,
    {
      about: `streams_not_kept ${edge_id}`,
      kind: 'streams_not_kept',
      severity: 'critical',
      title: `An Envoy of edge ${edge_id} closes ext_proc streams before responses end, so a kill cannot cut calls. ${advice}`,
      occurrence: { edge_id, is_refused },
    },
    new Date(),
  ).catch((error: unknown) => log.warn({ error: String(error) }, 'an alert could not be raised'))
}

/** Without a lease this process refuses every call, so it is not ready. */
async function firstLease(lease: LivenessLease): Promise<void> {
  while (!lease.isHeld) await wait(LEASE_POLL_MS)
}

/** Envoy reports the last calls shortly after they end, but its stream stays open and would delay the shutdown forever. */
async function endAccessLog(
  accessLog: AccessLog,
  inFlight: CallsInFlight,
  limit_ms: number,
): Promise<void> {
  const deadline_ms = nowMs() + limit_ms
  while (inFlight.size > 0 && nowMs() < deadline_ms) await wait(LAST_WORDS_MS / 10)
  await wait(LAST_WORDS_MS)
  await accessLog.stop()
}
