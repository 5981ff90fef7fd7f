import { type Document, isMap, isSeq, parseDocument, type YAMLSeq } from 'yaml'
import type { ConfigPart } from './config-part.ts'

const LISTS = [
  ['static_resources', 'listeners'],
  ['static_resources', 'clusters'],
  ['layered_runtime', 'layers'],
] as const
const CLIENT_CACHE = ['grpc_async_client_manager_config', 'max_cached_entry_idle_duration']

/**
 * Adds a listener of the gateway (see `asListener`) to the bootstrap of another Envoy. Everything that the bootstrap has stays:
 * lists are appended to.
 * @param bootstrap YAML or JSON
 * @throws with a message for the operator if the bootstrap cannot be read, or has something of the same name
 */
export function mergeListener(bootstrap: string, ours: ConfigPart): string {
  const theirs = parseDocument(bootstrap)
  const [error] = theirs.errors
  if (error !== undefined) throw new Error(`The configuration is not valid YAML: ${error.message}`)
  if (!isMap(theirs.contents)) throw new Error('The configuration is not a bootstrap of Envoy.')
  const own = theirs.createNode(ours, { aliasDuplicateObjects: false })
  if (!isMap(own)) throw new Error('the configuration of the gateway is no map')
  for (const path of LISTS) {
    const list = listAt(theirs, path)
    const added = own.getIn(path) as YAMLSeq
    const names = new Set(list.items.map(nameOf))
    for (const item of added.items) {
      const name = nameOf(item)
      if (names.has(name))
        throw new Error(
          `The configuration already has ${name} in ${path.join('.')}. Merge into your configuration without the gateway, or remove it first.`,
        )
      list.add(item)
    }
  }
  // A longer time only keeps clients.
  theirs.setIn(CLIENT_CACHE, own.getIn(CLIENT_CACHE))
  return theirs.toString({ lineWidth: 0 })
}

function listAt(document: Document, path: readonly string[]): YAMLSeq {
  const found = document.getIn(path)
  if (isSeq(found)) {
    found.flow = false
    return found
  }
  if (found !== undefined && found !== null)
    throw new Error(`${path.join('.')} of the configuration is not a list.`)
  document.setIn(path, document.createNode([]))
  const made = document.getIn(path) as YAMLSeq
  made.flow = false
  return made
}

const nameOf = (item: unknown): string => (isMap(item) ? String(item.get('name')) : '')
