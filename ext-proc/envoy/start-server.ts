import { chmodSync, existsSync, readFileSync, unlinkSync } from 'node:fs'
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { listenFailure } from '../../core/listen-failure.ts'
import { fromRoot } from '../../core/root.ts'
import { addHealthService } from './add-health-service.ts'

export type EnvoyStream = ServerDuplexStream<Buffer, Buffer>
export type StreamHandler = (stream: EnvoyStream) => void

/** One stream per Envoy thread, open indefinitely. It is answered when this process stops. */
export type AccessLogStream = ServerReadableStream<Buffer, Buffer>
export type AccessLogHandler = (
  stream: AccessLogStream,
  answer: (error: null, message: Buffer) => void,
) => void

export interface ServerTls {
  readonly cert_file: string
  readonly key_file: string
  readonly ca_file: string
}

export interface ServerOptions {
  /** `unix:/path` or `host:port`. */
  readonly address: string
  /** Required for `host:port`: any client that can connect to this port receives credentials (threat model, rule 1). */
  readonly tls: ServerTls | null
  /** Largest message: a buffered body and its headers. */
  readonly message_limit_bytes: number
}

const HEADROOM_BYTES = 1 << 20
const SERVICES = {
  ext_proc: {
    file: 'envoy/service/ext_proc/v3/external_processor.proto',
    name: 'envoy.service.ext_proc.v3.ExternalProcessor',
  },
  access_log: {
    file: 'envoy/service/accesslog/v3/als.proto',
    name: 'envoy.service.accesslog.v3.AccessLogService',
  },
} as const

/**
 * The gRPC authority with which envoy/bootstrap.yaml indicates that this Envoy sends its access log to the gateway. An Envoy
 * that does not, as in a custom fleet, uses a different authority; entries of its allowed calls are written when their streams
 * end.
 */
const WITH_ACCESS_LOG = 'agw-with-access-log'

export const hasAccessLog = (stream: EnvoyStream): boolean => stream.getHost() === WITH_ACCESS_LOG

export interface Handlers {
  readonly ext_proc?: StreamHandler
  readonly access_log?: AccessLogHandler
  /** The response to Envoy's health checks. Without it they are not answered. */
  readonly is_serving?: () => boolean
}

/**
 * Serves ext_proc, Envoy's access log, or both. The services are defined in proto/; their (de)serializers pass Buffers through,
 * because the messages are decoded and encoded by hand. The test `ext-proc-codec` compares both with the definition.
 * @throws if the address cannot be bound
 */
export async function startServer(
  options: ServerOptions,
  { ext_proc, access_log, is_serving }: Handlers,
): Promise<Server> {
  const server = new Server({
    'grpc.max_receive_message_length': options.message_limit_bytes + HEADROOM_BYTES,
    'grpc.max_send_message_length': options.message_limit_bytes + HEADROOM_BYTES,
    'grpc.enable_channelz': 0,
  })
  if (ext_proc !== undefined)
    server.addService(rawService(SERVICES.ext_proc), { Process: ext_proc })
  if (access_log !== undefined)
    server.addService(rawService(SERVICES.access_log), { StreamAccessLogs: access_log })
  if (is_serving !== undefined) addHealthService(server, is_serving)
  const path = options.address.startsWith('unix:') ? options.address.slice('unix:'.length) : null
  if (path !== null && existsSync(path)) unlinkSync(path)
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(options.address, credentials(options), (error) =>
      error ? reject(bindError(error, options.address)) : resolve(),
    )
  })
  if (path !== null) chmodSync(path, 0o600)
  return server
}

function bindError(error: Error, address: string): Error {
  if (address.startsWith('unix:')) return error
  const setting = 'AGW_EXT_PROC_ADDRESS (or AGW_ACCESS_LOG_ADDRESS)'
  const { cause, advice } = listenFailure(error, { host: null, port: setting })
  return new Error(`${address} cannot be used: ${cause}. ${advice}`)
}

const same = (bytes: Buffer): Buffer => bytes
const RAW = {
  requestDeserialize: same,
  requestSerialize: same,
  responseDeserialize: same,
  responseSerialize: same,
}

function rawService({ file, name }: (typeof SERVICES)[keyof typeof SERVICES]): ServiceDefinition {
  const definition = loadSync(file, {
    includeDirs: [fromRoot('proto')],
    keepCase: true,
  })
  const loaded = loadPackageDefinition(definition)
  const service = definition[name]
  if (service === undefined || loaded['envoy'] === undefined)
    throw new Error(`proto/ does not define ${name}`)
  return Object.fromEntries(
    Object.entries(service as ServiceDefinition).map(([method_name, method]) => [
      method_name,
      { ...method, ...RAW },
    ]),
  )
}

function credentials({ address, tls }: ServerOptions): ServerCredentials {
  if (address.startsWith('unix:')) return ServerCredentials.createInsecure()
  if (tls === null)
    throw new Error(
      'ext-proc over TCP needs mutual TLS: set AGW_EXT_PROC_TLS_CERT_FILE, …_KEY_FILE and …_CA_FILE',
    )
  const pair = { cert_chain: readFileSync(tls.cert_file), private_key: readFileSync(tls.key_file) }
  return ServerCredentials.createSsl(readFileSync(tls.ca_file), [pair], true)
}
