import { parseDocument } from 'yaml'
import { Additions } from './additions.ts'
import type { Parts } from './as-parts.ts'
import { type ConfigPart, partAt } from './config-part.ts'

/** Where the gateway is added: a listener, or one and a virtual host of it; null where there is one only. */
export interface MergePlace {
  readonly listener: string | null
  readonly virtual_host: string | null
}

/** How the result is written: as the whole configuration, or as the JSON patch (RFC 6902) that makes it. */
export type MergeForm = 'yaml' | 'json-patch'

const LISTS = [
  ['static_resources', 'listeners'],
  ['static_resources', 'clusters'],
  ['layered_runtime', 'layers'],
] as const
const CLIENT_CACHE = ['grpc_async_client_manager_config', 'max_cached_entry_idle_duration']

/**
 * Adds the gateway to the bootstrap of another Envoy: a listener of its own (see `asListener`), or its parts (see `asParts`) to
 * a listener that is there.
 * @param text YAML or JSON
 * @throws with a message for the operator if the bootstrap cannot be read, has something of the same name, or no place for it
 */
export function mergeConfig(
  text: string,
  part: ConfigPart | Parts,
  place: MergePlace,
  form: MergeForm,
): string {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined) throw new Error(`The configuration is not valid YAML: ${error.message}`)
  const theirs = document.toJS() as unknown
  if (typeof theirs !== 'object' || theirs === null || Array.isArray(theirs))
    throw new Error('The configuration is not a bootstrap of Envoy.')
  const additions = new Additions(theirs as ConfigPart)
  const ours = JSON.parse(JSON.stringify(part)) as ConfigPart | Parts
  if (isParts(ours)) addParts(additions, ours, place)
  const own = new Additions(isParts(ours) ? { ...ours.bootstrap } : ours)
  for (const path of LISTS) {
    const items = own.itemsAt(path)
    if (items.length > 0) additions.insertNew(path, items)
  }
  // A longer time only keeps clients.
  additions.set(CLIENT_CACHE, own.at(CLIENT_CACHE))
  return form === 'yaml'
    ? additions.appliedTo(text)
    : `${JSON.stringify(additions.list, null, 2)}\n`
}

const isParts = (part: ConfigPart | Parts): part is Parts => part['bootstrap'] !== undefined

/** Every filter chain of the listener gets them: which one takes a connection may depend on its server name. */
function addParts(additions: Additions, parts: Parts, place: MergePlace): void {
  for (const manager of managersOf(additions, place.listener)) {
    const filters = [...manager, 'http_filters']
    const present = additions.itemsAt(filters)
    const router = present.length - 1
    if (!typeOf(present[router]).endsWith('.Router'))
      throw new Error(`${filters.join('.')} does not end with the router.`)
    const hosts = [...manager, 'route_config', 'virtual_hosts']
    if (additions.at(hosts) === undefined)
      throw new Error(
        `${manager.join('.')} has its routes elsewhere (RDS). Without --merge, the parts to add are printed.`,
      )
    additions.insertNew(filters, parts.http_filters, router)
    additions.insert([...manager, 'access_log'], parts.access_log)
    if (parts.virtual_host !== undefined) addHost(additions, hosts, parts.virtual_host)
    else {
      const routes = [...hosts, hostIn(additions.itemsAt(hosts), place.virtual_host), 'routes']
      additions.insertNew(routes, parts.routes ?? [], 0)
    }
  }
}

function addHost(
  additions: Additions,
  path: readonly (string | number)[],
  host: NonNullable<Parts['virtual_host']>,
): void {
  for (const { name, domains } of additions.itemsAt(path)) {
    const taken = host.domains.find((domain) => (domains as unknown[] | null)?.includes(domain))
    if (taken !== undefined)
      throw new Error(`${taken} is a domain of your virtual host ${String(name)} already.`)
  }
  additions.insertNew(path, [host])
}

function hostIn(hosts: readonly ConfigPart[], wanted: string | null): number {
  const index = wanted === null ? 0 : hosts.findIndex(({ name }) => name === wanted)
  if (hosts[index] === undefined || (wanted === null && hosts.length > 1))
    throw new Error(
      `--into LISTENER/VIRTUAL_HOST has to name the virtual host of the gateway's routes; yours: ${namesOf(hosts)}.`,
    )
  return index
}

/** The connection managers of a listener. */
function managersOf(
  additions: Additions,
  wanted: string | null,
): readonly (readonly (string | number)[])[] {
  const path = ['static_resources', 'listeners']
  const listeners = additions.itemsAt(path)
  const managers = listeners.map((listener, i) => [
    ...additions
      .itemsAt([...path, i, 'filter_chains'])
      .flatMap((_, at) => managersIn(additions, [...path, i, 'filter_chains', at])),
    ...(listener['default_filter_chain'] === undefined
      ? []
      : managersIn(additions, [...path, i, 'default_filter_chain'])),
  ])
  const usable = listeners.flatMap(({ name }, i) =>
    managers[i]?.length === 0 || (wanted !== null && wanted !== name) ? [] : [i],
  )
  const [index, ...others] = usable
  if (index === undefined || others.length > 0)
    throw new Error(
      `--into LISTENER has to name one listener with an HTTP connection manager; yours: ${namesOf(listeners)}.`,
    )
  return managers[index] ?? []
}

const managersIn = (
  additions: Additions,
  chain: readonly (string | number)[],
): (readonly (string | number)[])[] =>
  additions
    .itemsAt([...chain, 'filters'])
    .flatMap((filter, i) =>
      typeOf(filter).endsWith('.HttpConnectionManager')
        ? [[...chain, 'filters', i, 'typed_config']]
        : [],
    )

const typeOf = (filter: ConfigPart | undefined): string =>
  String(partAt(filter ?? {}, 'typed_config')['@type'])

const namesOf = (parts: readonly ConfigPart[]): string =>
  parts.map(({ name }) => (typeof name === 'string' ? name : '(without a name)')).join(', ') ||
  'none'
