import { chmodSync, existsSync, unlinkSync } from 'node:fs'
import type { Settings } from '../../core/settings/settings.ts'
import { listenFailure } from '../../core/system/listen-failure.ts'
import { serveBuiltIn } from '../grpc/built-in.ts'
import type { GrpcCall, GrpcMethods, ServeConnection } from '../grpc/grpc-call.ts'
import { GrpcServer } from '../grpc/grpc-server.ts'
import { followTlsFiles } from './follow-tls-files.ts'
import { hasAllowedName } from './has-allowed-name.ts'
import { hostAndPort } from './host-and-port.ts'
import { readTlsFiles } from './read-tls-files.ts'

export type EnvoyStream = GrpcCall
export type StreamHandler = (stream: EnvoyStream) => void

/** One stream per Envoy thread, open indefinitely. It is answered when this process stops. */
export type AccessLogStream = GrpcCall
export type AccessLogHandler = (
  stream: AccessLogStream,
  answer: (error: null, message: Buffer) => void,
) => void

export interface ServerTls {
  readonly cert_file: string
  readonly key_file: string
  readonly ca_file: string
  /** Names of which a client's certificate must have one; with none, every certificate of the CA is accepted. */
  readonly client_sans: readonly string[]
}

export interface ServerOptions {
  /** `unix:/path` or `host:port`. */
  readonly address: string
  /** The listening Unix socket at that address, inherited. */
  readonly fd?: number | null
  /** Required for `host:port`: any client that can connect to this port receives credentials (threat model, rule 1). */
  readonly tls: ServerTls | null
  /** Largest message: a buffered body and its headers. */
  readonly message_limit_bytes: number
  /** What speaks HTTP/2 and gRPC; `AGW_EXT_PROC_TRANSPORT`. */
  readonly transport?: Settings['extProcTransport']
}

const HEADROOM_BYTES = 1 << 20
const PROCESS = '/envoy.service.ext_proc.v3.ExternalProcessor/Process'
const STREAM_ACCESS_LOGS = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs'
const DELTA_SECRETS = '/envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets'
const DELTA_CLUSTERS = '/envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters'
const EXPORT_TRACES = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
const HEALTH_CHECK = '/grpc.health.v1.Health/Check'

/**
 * The gRPC authority with which envoy/bootstrap.yaml indicates that this Envoy sends its access log to the gateway. An Envoy
 * that does not, as in a custom fleet, uses a different authority; entries of its allowed calls are written when their streams
 * end.
 */
const WITH_ACCESS_LOG = 'agw-with-access-log'

/**
 * The same for the listeners of the forward proxy (envoy/add-forward-proxy.ts): where clients connect to, and inside of tunnels, with and
 * without TLS. No caller can set the authority of a gRPC call that Envoy makes.
 */
const FORWARD_HOPS = {
  'agw-forward-entry': 'entry',
  'agw-forward-https': 'https',
  'agw-forward-http': 'http',
} as const

export type ForwardHop = (typeof FORWARD_HOPS)[keyof typeof FORWARD_HOPS]

/** Where in the forward proxy a call is; null for a call of the other listener. */
export const forwardHopOf = (stream: EnvoyStream): ForwardHop | null =>
  FORWARD_HOPS[stream.getHost() as keyof typeof FORWARD_HOPS] ?? null

export const hasAccessLog = (stream: EnvoyStream): boolean =>
  stream.getHost() === WITH_ACCESS_LOG || forwardHopOf(stream) !== null

export interface Handlers {
  readonly ext_proc?: StreamHandler
  readonly access_log?: AccessLogHandler
  /** Certificates for the forward proxy. */
  readonly secrets?: StreamHandler | undefined
  /** Clusters of integrations with connection settings of their own. */
  readonly clusters?: StreamHandler
  /** Takes the spans of Envoy, each request in one message. */
  readonly traces?: ((request: Buffer) => void) | undefined
  /** The response to Envoy's health checks. Without it they are not answered. */
  readonly is_serving?: () => boolean | Promise<boolean>
}

/** grpc.health.v1.HealthCheckResponse, whose one field is 1 for SERVING and 2 for NOT_SERVING. */
const SERVING = Buffer.from([8, 1])
const NOT_SERVING = Buffer.from([8, 2])
/** An answer without members. */
const NOTHING = Buffer.alloc(0)

/**
 * Serves ext_proc, Envoy's access log, or both. Messages are decoded and encoded by hand. The test `ext-proc-codec` compares
 * both with the definition in proto/.
 * @throws (rejects) if the address cannot be bound
 */
export async function startServer(options: ServerOptions, handlers: Handlers): Promise<GrpcServer> {
  const { address, fd = null, message_limit_bytes } = options
  const limit_bytes = message_limit_bytes + HEADROOM_BYTES
  const tls = address.startsWith(UNIX) ? null : neededTls(options.tls)
  const secure = tls === null ? null : { tls, files: readTlsFiles(tls) }
  const server = new GrpcServer(
    await serveBy(options.transport ?? 'built-in', methodsOf(handlers), limit_bytes),
    secure === null
      ? null
      : { ...secure.files, accepts: (peer) => hasAllowedName(peer, secure.tls.client_sans) },
  )
  const path = address.startsWith(UNIX) ? address.slice(UNIX.length) : null
  const isOwn = path !== null && fd === null
  if (isOwn && existsSync(path)) unlinkSync(path)
  const where = fd !== null ? { fd } : path !== null ? { path } : hostAndPort(address)
  await server.listen(where).catch((error: Error) => {
    throw bindError(error, address)
  })
  if (isOwn) chmodSync(path, 0o600)
  if (secure !== null)
    followTlsFiles(secure.tls, secure.files, (files) => server.useCertificates(files))
  return server
}

/** grpc-js is loaded where it is chosen, and nowhere else. */
async function serveBy(
  transport: Settings['extProcTransport'],
  methods: GrpcMethods,
  limit_bytes: number,
): Promise<ServeConnection> {
  if (transport === 'built-in') return serveBuiltIn(methods, limit_bytes)
  const { serveWithGrpcJs } = await import('../grpc/grpc-js.ts')
  return serveWithGrpcJs(methods, limit_bytes)
}

function methodsOf(handlers: Handlers): GrpcMethods {
  const { ext_proc, access_log, secrets, clusters, traces, is_serving } = handlers
  const methods = new Map<string, (call: GrpcCall) => void>()
  if (ext_proc !== undefined) methods.set(PROCESS, ext_proc)
  if (secrets !== undefined) methods.set(DELTA_SECRETS, secrets)
  if (clusters !== undefined) methods.set(DELTA_CLUSTERS, clusters)
  if (access_log !== undefined)
    methods.set(STREAM_ACCESS_LOGS, (stream) =>
      access_log(stream, (_, message) => {
        stream.write(message)
        stream.endResponse()
      }),
    )
  if (traces !== undefined)
    methods.set(EXPORT_TRACES, (stream) => {
      stream.on('data', traces)
      stream.on('end', () => answerOnce(stream, NOTHING))
    })
  if (is_serving !== undefined)
    methods.set(HEALTH_CHECK, (stream) => {
      stream.on('end', async () => answerOnce(stream, (await is_serving()) ? SERVING : NOT_SERVING))
    })
  return methods
}

function answerOnce(stream: GrpcCall, message: Buffer): void {
  stream.write(message)
  stream.end()
}

const UNIX = 'unix:'

function bindError(error: Error, address: string): Error {
  if (address.startsWith(UNIX)) return error
  const setting = 'AGW_EXT_PROC_ADDRESS (or AGW_ACCESS_LOG_ADDRESS)'
  const { cause, advice } = listenFailure(error, { host: null, port: setting })
  return new Error(`${address} cannot be used: ${cause}. ${advice}`)
}

function neededTls(tls: ServerTls | null): ServerTls {
  if (tls !== null) return tls
  throw new Error(
    'ext-proc over TCP needs mutual TLS: set AGW_EXT_PROC_TLS_CERT_FILE, …_KEY_FILE and …_CA_FILE',
  )
}
