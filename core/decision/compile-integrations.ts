import { findCredentialType, type SealedAuth } from '../credential/catalogue.ts'
import { needsBody } from '../credential/needs-body.ts'
import type { Connection, Integration } from '../catalogue/model.ts'
import {
  type ListedHost,
  type ListedHosts,
  listedHosts,
  listingOf,
  senderOf,
} from './also-hosts.ts'
import { foldAndSplitSegment, foldSegment, isFolded } from '../request/fold-segments.ts'
import { type OwnedName, ownedName } from '../request/owned-name.ts'
import { type BaseUrl, parseBaseUrl } from '../request/parse-base-url.ts'
import type { Target } from '../request/parse-target.ts'
import { runSteps, runStepsWith } from '../request/run-steps.ts'

export interface CompiledIntegration {
  readonly integration: Integration
  readonly base: BaseUrl
  /** What the credential of a call may fill. */
  readonly owned: readonly OwnedName[]
  /** Its own credential, as the choice of a call without a connection. */
  readonly own: { readonly kind: 'chosen'; readonly credential: CompiledCredential }
  /** Null if there are none. */
  readonly connections: CompiledConnections | null
  /** The integrations that list this host; null for an integration itself. */
  readonly listing: readonly ListedHost[] | null
  /** Whether no integration has or lists this host (`unlistedIntegration`). */
  readonly is_unlisted: boolean
}

/** One of the credentials that calls to an integration may get. */
export interface CompiledCredential {
  readonly auth: SealedAuth
  /** Null: it is that of the integration itself. */
  readonly connection: Connection | null
  /** Whether it needs the body of each call. */
  readonly needs_body: boolean
  /** Whether it signs calls: it covers a body that is there, even if it does not need one. */
  readonly is_signed: boolean
}

/** The connections of one integration. */
export interface CompiledConnections {
  readonly by_id: ReadonlyMap<string, CompiledCredential>
  /** Those of agents and users, of which each has at most one. */
  readonly by_subject: ReadonlyMap<string, CompiledCredential>
}

export interface IntegrationTable extends ReadonlyMap<string, OriginIntegrations> {
  readonly listed: ListedHosts
  /** The connections by integration_id. */
  readonly connections: ReadonlyMap<string, readonly Connection[]>
}

export interface OriginIntegrations {
  /** By the base URLs as written; at most one integration per node. */
  readonly written: IntegrationNode
  /** By the base URLs as a lenient upstream reads them, with encoded slashes kept and with them split. */
  readonly folded: IntegrationNode
  /** The number of segments of the longest base URL; later segments of a target are not needed. */
  readonly depth: number
  /** Whether every base URL equals its folded form, so that only a target can be spelled differently. */
  readonly is_folded: boolean
  readonly count: number
}

/** One level per decoded segment of the base URL. */
export interface IntegrationNode {
  readonly integrations: readonly CompiledIntegration[]
  readonly children: ReadonlyMap<string, IntegrationNode>
}

interface GrowingNode {
  integrations: CompiledIntegration[]
  readonly children: Map<string, GrowingNode>
}

interface GrowingOrigin extends OriginIntegrations {
  readonly written: GrowingNode
  readonly folded: GrowingNode
  depth: number
  is_folded: boolean
  count: number
}

/** Integrations and segments between two pauses: about half a millisecond of work. */
const UNITS_PER_STEP = 512
/** What an integration costs in addition to its segments. */
const UNITS_PER_INTEGRATION = 8

/**
 * One immutable value, compiled once per change and swapped. Of two integrations with the same base URL, which admin refuses to
 * store, the older one is used; one whose stored base URL does not parse matches nothing.
 */
export function compileIntegrations(
  integrations: Iterable<Integration>,
  connections: readonly Connection[] = [],
): IntegrationTable {
  return runSteps(compiling(integrations, connections))
}

/** The same with pauses: `pause` lets the event loop do other work. */
export async function compileIntegrationsInSteps(
  integrations: Iterable<Integration>,
  connections: readonly Connection[],
  pause: () => Promise<void>,
): Promise<IntegrationTable> {
  return await runStepsWith(compiling(integrations, connections), pause)
}

function* compiling(
  integrations: Iterable<Integration>,
  connections: readonly Connection[],
): Generator<undefined, IntegrationTable> {
  const byIntegration = new Map<string, Connection[]>()
  for (const connection of connections) {
    const there = byIntegration.get(connection.integration_id)
    if (there === undefined) byIntegration.set(connection.integration_id, [connection])
    else there.push(connection)
  }
  const covering = new Map<string, CompiledIntegration>()
  let units = 0
  for (const integration of integrations) {
    const parsed = parseBaseUrl(integration.base_url)
    units += UNITS_PER_INTEGRATION
    if (!parsed.ok) continue
    const { base } = parsed
    const ofIntegration = byIntegration.get(integration.integration_id) ?? NO_CONNECTIONS
    const other = covering.get(base.base_url)
    if (other === undefined || isOlder(integration, other.integration))
      covering.set(base.base_url, compileIntegration(integration, base, ofIntegration))
    units += base.segments.length + ofIntegration.length
    if (units < UNITS_PER_STEP) continue
    units = 0
    yield
  }
  const origins = new Map<string, GrowingOrigin>()
  for (const compiled of covering.values()) {
    const { origin, segments } = compiled.base
    const there = origins.get(origin) ?? emptyOrigin()
    origins.set(origin, there)
    addToOrigin(there, compiled)
    units += UNITS_PER_INTEGRATION + segments.length * READINGS
    if (units < UNITS_PER_STEP) continue
    units = 0
    yield
  }
  const oldestFirst = [...covering.values()].sort((a, b) =>
    isOlder(a.integration, b.integration) ? -1 : 1,
  )
  return Object.assign(origins, { listed: listedHosts(oldestFirst), connections: byIntegration })
}

export const NO_AUTH = { type: 'none' } as const

/**
 * A listed host as an integration without connection settings; null if it is none. Its identity and its credential are those of the
 * integration that sends its credential there, else it has none and is the first integration that lists the host.
 */
export function listedIntegration(
  table: IntegrationTable,
  target: Pick<Target, 'scheme' | 'host' | 'port' | 'origin'>,
): CompiledIntegration | null {
  const listing = listingOf(table, target)
  const [first] = listing ?? []
  if (listing === null || first === undefined) return null
  const { scheme, host, port, origin } = target
  const base: BaseUrl = { base_url: origin, scheme, host, port, origin, segments: [] }
  const sender = senderOf(listing)
  const { upstream: _, also_hosts: __, ...integration } = sender ?? first.integration
  const auth = sender?.auth ?? NO_AUTH
  const connections = table.connections.get(sender?.integration_id ?? '') ?? NO_CONNECTIONS
  const compiled = compileIntegration({ ...integration, base_url: origin, auth }, base, connections)
  return { ...compiled, listing }
}

export const compileIntegration = (
  integration: Integration,
  base: BaseUrl,
  connections: readonly Connection[] = NO_CONNECTIONS,
): CompiledIntegration => ({
  integration,
  base,
  owned: ownedNames([integration.auth, ...connections.map(({ auth }) => auth)]),
  own: { kind: 'chosen', credential: compileCredential(integration.auth, null, base) },
  connections: connections.length === 0 ? null : compileConnections(connections, base),
  listing: null,
  is_unlisted: false,
})

const NO_CONNECTIONS: readonly Connection[] = []

/** Each place once. */
function ownedNames(all: readonly SealedAuth[]): readonly OwnedName[] {
  const [first] = all
  if (first !== undefined && all.length === 1) return [ownedName(first)]
  const names = all.map(ownedName)
  return [...new Map(names.map((name) => [JSON.stringify(name), name])).values()]
}

const compileCredential = (
  auth: SealedAuth,
  connection: Connection | null,
  { scheme }: Pick<BaseUrl, 'scheme'>,
): CompiledCredential => ({
  auth,
  connection,
  needs_body: needsBody(auth, scheme),
  is_signed: findCredentialType(auth.type)?.application.kind === 'signature',
})

export const NO_CREDENTIAL: CompiledCredential = compileCredential(NO_AUTH, null, {
  scheme: 'https',
})

function compileConnections(
  connections: readonly Connection[],
  base: BaseUrl,
): CompiledConnections {
  const by_id = new Map<string, CompiledCredential>()
  const by_subject = new Map<string, CompiledCredential>()
  for (const connection of connections) {
    const compiled = compileCredential(connection.auth, connection, base)
    by_id.set(connection.connection_id, compiled)
    if (connection.subject !== 'shared') by_subject.set(connection.subject, compiled)
  }
  return { by_id, by_subject }
}

/** As written, folded, and folded with encoded slashes split. */
const READINGS = 3

const emptyOrigin = (): GrowingOrigin => ({
  written: emptyNode(),
  folded: emptyNode(),
  depth: 0,
  is_folded: true,
  count: 0,
})

function addToOrigin(origin: GrowingOrigin, compiled: CompiledIntegration): void {
  const { segments } = compiled.base
  insert(origin.written, segments, compiled)
  insert(origin.folded, segments.map(foldSegment), compiled)
  insert(origin.folded, segments.flatMap(foldAndSplitSegment), compiled)
  origin.depth = Math.max(origin.depth, segments.length)
  origin.is_folded &&= segments.every((segment) => isFolded(segment) && !segment.includes('/'))
  origin.count++
}

const emptyNode = (): GrowingNode => ({ integrations: [], children: new Map() })

function insert(
  root: GrowingNode,
  segments: readonly string[],
  compiled: CompiledIntegration,
): void {
  let node = root
  for (const segment of segments) {
    // Folding leaves nothing of a base segment such as `...`.
    if (segment === '') continue
    const known = node.children.get(segment)
    const child = known ?? emptyNode()
    if (known === undefined) node.children.set(segment, child)
    node = child
  }
  if (!node.integrations.includes(compiled)) node.integrations.push(compiled)
}

const isOlder = (a: Integration, b: Integration): boolean =>
  a.created_at < b.created_at ||
  (a.created_at === b.created_at && a.integration_id < b.integration_id)
