import { chmodSync, existsSync, readFileSync, unlinkSync } from 'node:fs'
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { fromRoot } from '../../core/root.ts'

export type EnvoyStream = ServerDuplexStream<Buffer, Buffer>
export type StreamHandler = (stream: EnvoyStream) => void

export interface ServerOptions {
  /** `unix:/path` or `host:port`. */
  readonly address: string
  /** Demanded for `host:port`: whoever can dial this port is handed credentials (threats.md 1). */
  readonly tls: {
    readonly cert_file: string
    readonly key_file: string
    readonly ca_file: string
  } | null
  /** Largest message: a held body and its headers. */
  readonly message_limit_bytes: number
}

const HEADROOM_BYTES = 1 << 20
const SERVICE = 'envoy.service.ext_proc.v3.ExternalProcessor'

/**
 * Serves ext_proc. The service comes from proto/; its (de)serialisers hand Buffers through, since the messages are
 * read and written by hand. The test `codec` holds both to the definition.
 * @throws when the address cannot be bound
 */
export async function startServer(options: ServerOptions, handler: StreamHandler): Promise<Server> {
  const server = new Server({
    'grpc.max_receive_message_length': options.message_limit_bytes + HEADROOM_BYTES,
    'grpc.max_send_message_length': options.message_limit_bytes + HEADROOM_BYTES,
    'grpc.enable_channelz': 0,
  })
  server.addService(rawService(), { Process: handler })
  const path = options.address.startsWith('unix:') ? options.address.slice('unix:'.length) : null
  if (path !== null && existsSync(path)) unlinkSync(path)
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(options.address, credentials(options), (error) =>
      error ? reject(error) : resolve(),
    )
  })
  if (path !== null) chmodSync(path, 0o600)
  return server
}

function rawService(): ServiceDefinition {
  const definition = loadSync('envoy/service/ext_proc/v3/external_processor.proto', {
    includeDirs: [fromRoot('proto')],
    keepCase: true,
  })
  const loaded = loadPackageDefinition(definition)
  const service = definition[SERVICE]
  if (service === undefined || loaded['envoy'] === undefined)
    throw new Error(`proto/ does not define ${SERVICE}`)
  const same = (bytes: Buffer): Buffer => bytes
  return Object.fromEntries(
    Object.entries(service as ServiceDefinition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize: same,
        requestSerialize: same,
        responseDeserialize: same,
        responseSerialize: same,
      },
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
