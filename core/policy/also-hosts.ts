import type { AlsoHost, Integration, Scope } from '../model.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import { type AgentScopes, compileScopes } from './compile-scopes.ts'
import { ownedName } from './owned-name.ts'
import type { BaseUrl } from './parse-base-url.ts'
import type { Target } from './parse-target.ts'

/** A host that an integration lists in addition to its own, such as the download host of a git host. */
export interface ListedHost {
  readonly integration: Integration
  readonly entry: AlsoHost
}

/** All listed hosts of an organization. */
export interface ListedHosts {
  /** By host, with its port unless that is 443. */
  readonly exact: ReadonlyMap<string, readonly ListedHost[]>
  /** By the name below the leading wildcard label. */
  readonly below: ReadonlyMap<string, readonly ListedHost[]>
  /** The hosts of all base URLs. These are never listed ones, whatever their scheme and port. */
  readonly own: ReadonlySet<string>
}

export const WILDCARD = '*.'
const HTTPS_PORT = 443
const NO_AUTH = { type: 'none' } as const

export function listedHosts(compiled: Iterable<CompiledIntegration>): ListedHosts {
  const exact = new Map<string, ListedHost[]>()
  const below = new Map<string, ListedHost[]>()
  const own = new Set<string>()
  for (const { integration, base } of compiled) {
    own.add(base.host)
    for (const entry of integration.also_hosts ?? []) {
      const isWildcard = entry.host.startsWith(WILDCARD)
      const [map, name] = isWildcard
        ? [below, entry.host.slice(WILDCARD.length)]
        : [exact, entry.host]
      const there = map.get(name)
      if (there === undefined) map.set(name, [{ integration, entry }])
      else there.push({ integration, entry })
    }
  }
  return { exact, below, own }
}

/** Whether an integration lists this host, on this port or another one. */
export const isListedHost = ({ listed }: IntegrationTable, host: string): boolean =>
  listed !== undefined &&
  (listed.below.has(parentOf(host)) ||
    [...listed.exact.keys()].some((name) => name === host || name.startsWith(`${host}:`)))

const parentOf = (host: string): string => host.slice(host.indexOf('.') + 1)

/** The integrations that list the host of a target; null if none does, or if the host is that of an integration. */
function listingOf(
  { listed }: IntegrationTable,
  { scheme, host, port }: Pick<Target, 'scheme' | 'host' | 'port'>,
): readonly ListedHost[] | null {
  if (listed === undefined || scheme !== 'https' || listed.own.has(host)) return null
  const isUsual = port === HTTPS_PORT
  const exact = listed.exact.get(isUsual ? host : `${host}:${port}`)
  const below = isUsual ? listed.below.get(parentOf(host)) : undefined
  if (exact === undefined || below === undefined) return exact ?? below ?? null
  return [...exact, ...below]
}

/**
 * A listed host as an integration without a credential and connection settings; null if it is none. Its identity is that of the
 * integration that lists it, the first if several do.
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
  const { upstream: _, also_hosts: __, ...integration } = first.integration
  return {
    integration: { ...integration, base_url: origin, auth: NO_AUTH },
    base,
    owned: ownedName(NO_AUTH),
    needs_body: false,
    is_signed: false,
    listing,
  }
}

/** Whether an integration lists the host of another one, which `listedIntegration` has made. */
export const isListedBy = (
  { listing }: CompiledIntegration,
  { integration, listing: own }: CompiledIntegration,
): boolean =>
  listing !== null &&
  listing.some(({ integration: { integration_id } }) =>
    own === null
      ? integration_id === integration.integration_id
      : own.some((one) => one.integration.integration_id === integration_id),
  )

const known = new WeakMap<AgentScopes, WeakMap<readonly ListedHost[], AgentScopes>>()

/**
 * The scopes that govern a listed host: those that the agent has for the integrations that list it, each with the methods and
 * paths of the entry in place of its own rules. All of them match every call there, so the strictest settings apply.
 */
export function scopesForListing(agent: AgentScopes, target: CompiledIntegration): AgentScopes {
  const { listing, integration } = target
  if (listing === null) return agent
  const ofAgent = known.get(agent) ?? new WeakMap<readonly ListedHost[], AgentScopes>()
  known.set(agent, ofAgent)
  const before = ofAgent.get(listing)
  if (before !== undefined) return before
  const { integration_id } = integration
  const scopes = listing.flatMap(({ integration: lists, entry: { methods, paths } }) =>
    (agent.by_integration.get(lists.integration_id)?.scopes ?? []).map(
      ({ scope }): Scope => ({ ...scope, integration_id, rules: [{ methods, paths }] }),
    ),
  )
  const compiled: AgentScopes = { ...compileScopes(scopes), names: agent.names }
  ofAgent.set(listing, compiled)
  return compiled
}
