import { ProtobufReader } from './protobuf-reader.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** What Envoy asks for on a stream of on-demand delta CDS. */
export interface ClustersRequest {
  /** Only the first request of a stream has it; null if this Envoy's configuration has no templates. */
  readonly templates: string | null
  readonly subscribe: readonly string[]
  readonly unsubscribe: readonly string[]
  /** The answer that this request acknowledges or refuses. */
  readonly nonce: string
  /** What Envoy says of an answer that it could not use; null if all is well. */
  readonly problem: string | null
}

export interface ClustersAnswer {
  readonly nonce: string
  readonly clusters: readonly { readonly name: string; readonly cluster: Buffer }[]
  /** There are no such clusters; Envoy refuses the calls that wait for them. */
  readonly removed: readonly string[]
}

const TYPE_URL = 'type.googleapis.com/envoy.config.cluster.v3.Cluster'
/** Of the node's metadata; envoy/add-upstream-templates.ts writes it. */
const TEMPLATES = 'agw_upstreams'
const INITIAL_BYTES = 16_384
const writer = new ProtobufWriter(INITIAL_BYTES)

/** DeltaDiscoveryRequest and DeltaDiscoveryResponse of the xDS API, as far as clusters need them. */
export const deltaClusters = {
  /** @throws when the message is malformed */
  read: (bytes: Buffer): ClustersRequest => {
    const reader = new ProtobufReader(bytes)
    const subscribe: string[] = []
    const unsubscribe: string[] = []
    let templates: string | null = null
    let nonce = ''
    let problem: string | null = null
    while (!reader.atEnd) {
      const tag = reader.varint()
      if (tag === 10) templates = readNode(reader)
      else if (tag === 26) subscribe.push(reader.latin1())
      else if (tag === 34) unsubscribe.push(reader.latin1())
      else if (tag === 50) nonce = reader.latin1()
      else if (tag === 58) problem = textIn(reader, 18) ?? ''
      else reader.skip(tag & 7)
    }
    return { templates, subscribe, unsubscribe, nonce, problem }
  },

  /** Fields in reverse order; see protobuf-writer.ts. */
  write: ({ nonce, clusters, removed }: ClustersAnswer): Buffer => {
    for (const name of removed.toReversed()) writer.latin1Field(6, name)
    writer.latin1Field(5, nonce)
    writer.latin1Field(4, TYPE_URL)
    for (const { name, cluster } of clusters.toReversed()) {
      const outer = writer.length
      writer.latin1Field(3, name)
      const any = writer.length
      writer.bytesField(2, cluster)
      writer.latin1Field(1, TYPE_URL)
      writer.close(2, any)
      // The name contains a hash of the content, so a cluster has one version.
      writer.latin1Field(1, '1')
      writer.close(2, outer)
    }
    return writer.take()
  },
} as const

/** The templates in the metadata of a Node, which is a Struct. */
function readNode(reader: ProtobufReader): string | null {
  const node = reader.enter()
  let templates: string | null = null
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === 26) templates = readMetadata(reader) ?? templates
    else reader.skip(tag & 7)
  }
  reader.leave(node)
  return templates
}

function readMetadata(reader: ProtobufReader): string | null {
  const struct = reader.enter()
  let templates: string | null = null
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag !== 10) {
      reader.skip(tag & 7)
      continue
    }
    const entry = reader.enter()
    let key = ''
    let text: string | null = null
    while (!reader.atEnd) {
      const member = reader.varint()
      if (member === 10) key = reader.latin1()
      else if (member === 18) text = textIn(reader, 26)
      else reader.skip(member & 7)
    }
    reader.leave(entry)
    if (key === TEMPLATES) templates = text
  }
  reader.leave(struct)
  return templates
}

/** The text with this tag in the message that follows. */
function textIn(reader: ProtobufReader, wanted: number): string | null {
  const outer = reader.enter()
  let text: string | null = null
  while (!reader.atEnd) {
    const tag = reader.varint()
    if (tag === wanted) text = reader.latin1()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  return text
}
