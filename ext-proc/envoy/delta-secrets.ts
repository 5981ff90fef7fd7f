import {
  type DeltaAnswer,
  deltaDiscovery,
  type DeltaRequest,
  type DeltaResource,
} from './delta-discovery.ts'
import type { ProtobufWriter } from './protobuf-writer.ts'

export interface ServerSecret extends DeltaResource {
  /** In PEM. */
  readonly chain: string
  readonly key: string
}

const TYPE_URL = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret'

/** The messages of delta SDS. Envoy ends the handshakes that wait for a secret that there is not. */
export const deltaSecrets = {
  /** @throws when the message is malformed */
  read: (bytes: Buffer): DeltaRequest => deltaDiscovery.read(bytes),
  write: (answer: DeltaAnswer<ServerSecret>): Buffer =>
    deltaDiscovery.write(TYPE_URL, answer, writeSecret),
} as const

function writeSecret(writer: ProtobufWriter, { name, chain, key }: ServerSecret): void {
  const secret = writer.length
  const certificate = writer.length
  writeInline(writer, 2, key)
  writeInline(writer, 1, chain)
  writer.close(2, certificate)
  writer.latin1Field(1, name)
  writer.close(2, secret)
}

/** A DataSource with the bytes in it. */
function writeInline(writer: ProtobufWriter, field: number, pem: string): void {
  const mark = writer.length
  writer.latin1Field(2, pem)
  writer.close(field, mark)
}
