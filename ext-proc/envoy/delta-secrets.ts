import { ProtobufReader } from './protobuf-reader.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** What Envoy asks for on a stream of delta SDS. An acknowledgement of an answer names nothing. */
export interface SecretsRequest {
  readonly subscribe: readonly string[]
  readonly unsubscribe: readonly string[]
  /** Of the answer that it is about; null for a question. */
  readonly nonce: number | null
  /** What Envoy says of an answer that it could not use; null if all is well. */
  readonly problem: string | null
}

export interface ServerSecret {
  /** As Envoy has asked for it. */
  readonly name: string
  readonly version: string
  /** In PEM. */
  readonly chain: string
  readonly key: string
}

export interface SecretsAnswer {
  readonly nonce: string
  readonly secrets: readonly ServerSecret[]
  /** There are no such secrets; Envoy ends the handshakes that wait for them. */
  readonly removed: readonly string[]
}

const TYPE_URL = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret'
const INITIAL_BYTES = 8_192
const writer = new ProtobufWriter(INITIAL_BYTES)

/** DeltaDiscoveryRequest and DeltaDiscoveryResponse of the xDS API, as far as certificates need them. */
export const deltaSecrets = {
  /** @throws when the message is malformed */
  read: (bytes: Buffer): SecretsRequest => {
    const reader = new ProtobufReader(bytes)
    const subscribe: string[] = []
    const unsubscribe: string[] = []
    let nonce: number | null = null
    let problem: string | null = null
    while (!reader.atEnd) {
      const tag = reader.varint()
      if (tag === 26) subscribe.push(reader.latin1())
      else if (tag === 34) unsubscribe.push(reader.latin1())
      else if (tag === 50) nonce = Number(reader.latin1()) || null
      else if (tag === 58) problem = readStatus(reader)
      else reader.skip(tag & 7)
    }
    return { subscribe, unsubscribe, nonce, problem }
  },

  write: ({ nonce, secrets, removed }: SecretsAnswer): Buffer => {
    for (const name of removed.toReversed()) writer.latin1Field(6, name)
    writer.latin1Field(5, nonce)
    writer.latin1Field(4, TYPE_URL)
    for (const secret of secrets.toReversed()) writeResource(secret)
    return writer.take()
  },
} as const

/** The message of a google.rpc.Status. */
function readStatus(reader: ProtobufReader): string {
  const outer = reader.enter()
  let message = ''
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === 18) message = reader.latin1()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return message
}

function writeResource({ name, version, chain, key }: ServerSecret): void {
  const outer = writer.length
  writer.latin1Field(3, name)
  const any = writer.length
  const secret = writer.length
  const certificate = writer.length
  writeInline(2, key)
  writeInline(1, chain)
  writer.close(2, certificate)
  writer.latin1Field(1, name)
  writer.close(2, secret)
  writer.latin1Field(1, TYPE_URL)
  writer.close(2, any)
  writer.latin1Field(1, version)
  writer.close(2, outer)
}

/** A DataSource with the bytes in it. */
function writeInline(field: number, pem: string): void {
  const mark = writer.length
  writer.latin1Field(2, pem)
  writer.close(field, mark)
}
