import { ProtobufReader } from './protobuf-reader.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** What Envoy asks for on a stream of delta xDS. An acknowledgement of an answer names nothing. */
export interface DeltaRequest {
  readonly subscribe: readonly string[]
  readonly unsubscribe: readonly string[]
  /** The answer that this request acknowledges or refuses; null for a question. */
  readonly nonce: number | null
  /** What Envoy says of an answer that it could not use; null if all is well. */
  readonly problem: string | null
}

export interface DeltaAnswer<Resource extends DeltaResource> {
  readonly nonce: number
  readonly resources: readonly Resource[]
  /** There are no such resources; Envoy ends what waits for them. */
  readonly removed: readonly string[]
}

export interface DeltaResource {
  /** As Envoy has asked for it. */
  readonly name: string
  readonly version: string
}

const INITIAL_BYTES = 16_384
const writer = new ProtobufWriter(INITIAL_BYTES)

/** DeltaDiscoveryRequest and DeltaDiscoveryResponse of the xDS API, as far as this gateway needs them. */
export const deltaDiscovery = {
  /**
   * @param readNode reads the message about Envoy itself, which only the first request of a stream has
   * @throws when the message is malformed
   */
  read: (bytes: Buffer, readNode?: (reader: ProtobufReader) => void): DeltaRequest => {
    const reader = new ProtobufReader(bytes)
    const subscribe: string[] = []
    const unsubscribe: string[] = []
    let nonce: number | null = null
    let problem: string | null = null
    while (!reader.atEnd) {
      const tag = reader.varint()
      if (tag === 10 && readNode !== undefined) readNode(reader)
      else if (tag === 26) subscribe.push(reader.latin1())
      else if (tag === 34) unsubscribe.push(reader.latin1())
      else if (tag === 50) nonce = Number(reader.latin1()) || null
      else if (tag === 58) problem = reader.textIn(18) ?? ''
      else reader.skip(tag & 7)
    }
    return { subscribe, unsubscribe, nonce, problem }
  },

  /**
   * Fields in reverse order; see protobuf-writer.ts.
   * @param writeValue writes field 2 of an Any, the resource itself
   */
  write: <Resource extends DeltaResource>(
    type_url: string,
    { nonce, resources, removed }: DeltaAnswer<Resource>,
    writeValue: (to: ProtobufWriter, resource: Resource) => void,
  ): Buffer => {
    for (const name of removed.toReversed()) writer.latin1Field(6, name)
    writer.latin1Field(5, String(nonce))
    writer.latin1Field(4, type_url)
    for (const resource of resources.toReversed()) {
      const outer = writer.length
      writer.latin1Field(3, resource.name)
      const any = writer.length
      writeValue(writer, resource)
      writer.latin1Field(1, type_url)
      writer.close(2, any)
      writer.latin1Field(1, resource.version)
      writer.close(2, outer)
    }
    return writer.take()
  },
} as const
