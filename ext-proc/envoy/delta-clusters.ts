import {
  type DeltaAnswer,
  deltaDiscovery,
  type DeltaRequest,
  type DeltaResource,
} from './delta-discovery.ts'
import type { ProtobufReader } from './protobuf-reader.ts'

export interface ClustersRequest extends DeltaRequest {
  /** Only the first request of a stream has it; null if this Envoy's configuration has no templates. */
  readonly templates: string | null
}

export interface ServedCluster extends DeltaResource {
  readonly cluster: Buffer
}

const TYPE_URL = 'type.googleapis.com/envoy.config.cluster.v3.Cluster'
/** Of the node's metadata; envoy/add-upstream-templates.ts writes it. */
const TEMPLATES = 'agw_upstreams'

/** The messages of on-demand delta CDS. Envoy refuses the calls that wait for a cluster that there is not. */
export const deltaClusters = {
  /** @throws when the message is malformed */
  read: (bytes: Buffer): ClustersRequest => {
    let templates: string | null = null
    const request = deltaDiscovery.read(bytes, (reader) => {
      templates = readNode(reader)
    })
    return { templates, ...request }
  },
  write: (answer: DeltaAnswer<ServedCluster>): Buffer =>
    deltaDiscovery.write(TYPE_URL, answer, (writer, { cluster }) => writer.bytesField(2, cluster)),
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
      else if (member === 18) text = reader.textIn(26)
      else reader.skip(member & 7)
    }
    reader.leave(entry)
    if (key === TEMPLATES) templates = text
  }
  reader.leave(struct)
  return templates
}
