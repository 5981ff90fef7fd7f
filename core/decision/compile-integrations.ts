import { findCredentialType } from '../credential/catalogue.ts'
import { needsBody } from '../credential/needs-body.ts'
import type { Integration } from '../catalogue/model.ts'
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
  readonly owned: OwnedName
  /** Whether the credential needs the body of each call. */
  readonly needs_body: boolean
  /** Whether the credential signs calls: it covers a body that is there, even if it does not need one. */
  readonly is_signed: boolean
  /** The integrations that list this host; null for an integration itself. */
  readonly listing: readonly ListedHost[] | null
  /** Whether no integration has or lists this host (`unlistedIntegration`). */
  readonly is_unlisted: boolean
}

export interface IntegrationTable extends ReadonlyMap<string, OriginIntegrations> {
  readonly listed: ListedHosts
}

/** The integrations of one origin. */
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
export function compileIntegrations(integrations: Iterable<Integration>): IntegrationTable {
  return runSteps(compiling(integrations))
}

/** The same with pauses: `pause` lets the event loop do other work. */
export async function compileIntegrationsInSteps(
  integrations: Iterable<Integration>,
  pause: () => Promise<void>,
): Promise<IntegrationTable> {
  return await runStepsWith(compiling(integrations), pause)
}

function* compiling(integrations: Iterable<Integration>): Generator<undefined, IntegrationTable> {
  const covering = new Map<string, CompiledIntegration>()
  let units = 0
  for (const integration of integrations) {
    const parsed = parseBaseUrl(integration.base_url)
    units += UNITS_PER_INTEGRATION
    if (!parsed.ok) continue
    const { base } = parsed
    const other = covering.get(base.base_url)
    if (other === undefined || isOlder(integration, other.integration))
      covering.set(base.base_url, compileIntegration(integration, base))
    units += base.segments.length
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
  return Object.assign(origins, { listed: listedHosts(oldestFirst) })
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
  return { ...compileIntegration({ ...integration, base_url: origin, auth }, base), listing }
}

export const compileIntegration = (
  integration: Integration,
  base: BaseUrl,
): CompiledIntegration => ({
  integration,
  base,
  owned: ownedName(integration.auth),
  needs_body: needsBody(integration.auth, base.scheme),
  is_signed: findCredentialType(integration.auth.type)?.application.kind === 'signature',
  listing: null,
  is_unlisted: false,
})

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
