import { parseUrl } from '../bounded/parse-url.ts'
import { urlsOf } from '../credential/urls-of.ts'
import type { AlsoHost, Integration, Scope } from '../catalogue/model.ts'
import type { CompiledIntegration, IntegrationTable } from './compile-integrations.ts'
import {
  type AgentScopes,
  type CompiledScope,
  compareScopes,
  compileScopes,
} from './compile-scopes.ts'
import type { Target } from '../request/parse-target.ts'
import { matchesSelector } from './selector.ts'

/** A host that an integration lists in addition to its own, such as the download host of a git host. */
export interface ListedHost {
  readonly integration: Integration
  readonly entry: AlsoHost
}

/** All listed hosts of an organization. The entries of a host are those of the oldest integration first. */
export interface ListedHosts {
  /** By host, with its port unless that is 443; with what a wildcard lists of it. */
  readonly exact: ReadonlyMap<string, readonly ListedHost[]>
  /** By the name below the leading wildcard label. */
  readonly below: ReadonlyMap<string, readonly ListedHost[]>
  /** The names of `exact` without their ports. */
  readonly names: ReadonlySet<string>
  /** The hosts of all base URLs. These are never listed ones, whatever their scheme and port. */
  readonly own: ReadonlySet<string>
  /** The hosts of token endpoints. */
  readonly of_tokens: ReadonlySet<string>
}

export const WILDCARD = '*.'
const HTTPS_PORT = 443
const PORT = /:\d+$/

/** @param compiled the oldest first */
export function listedHosts(compiled: Iterable<CompiledIntegration>): ListedHosts {
  const exact = new Map<string, ListedHost[]>()
  const below = new Map<string, ListedHost[]>()
  const own = new Set<string>()
  const of_tokens = new Set<string>()
  for (const { integration, base, connections } of compiled) {
    own.add(base.host)
    for (const { auth } of [integration, ...(connections?.by_id.values() ?? [])])
      for (const [, url] of urlsOf(auth)) of_tokens.add(parseUrl(url)?.hostname ?? '')
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
  for (const [host, there] of exact)
    if (!PORT.test(host)) there.push(...(below.get(parentOf(host)) ?? []))
  const names = new Set([...exact.keys()].map((host) => host.replace(PORT, '')))
  return { exact, below, names, own, of_tokens }
}

/** Whether an integration has or lists this host, on this port or another one; its token endpoints do not count. */
export const isNamedHost = ({ listed }: IntegrationTable, host: string): boolean =>
  listed.own.has(host) || listed.names.has(host) || listed.below.has(parentOf(host))

const parentOf = (host: string): string => host.slice(host.indexOf('.') + 1)

/** The origins in `also_hosts` that get the credential, sorted. */
export const originsWithCredential = ({
  also_hosts = [],
}: Pick<Integration, 'also_hosts'>): readonly string[] =>
  also_hosts
    .filter(({ credential }) => credential)
    .map(({ host }) => `https://${host}`)
    .sort()

/** The integrations that list the host of a target; null if none does, or if the host is that of an integration. */
export function listingOf(
  { listed }: IntegrationTable,
  { scheme, host, port }: Pick<Target, 'scheme' | 'host' | 'port'>,
): readonly ListedHost[] | null {
  if (scheme !== 'https' || listed.own.has(host)) return null
  if (port !== HTTPS_PORT) return listed.exact.get(`${host}:${port}`) ?? null
  return listed.exact.get(host) ?? listed.below.get(parentOf(host)) ?? null
}

/** The first integration that sends its credential to the host; null if none does. */
export const senderOf = (listing: readonly ListedHost[]): Integration | null =>
  listing.find(({ entry }) => entry.credential)?.integration ?? null

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

/** A scope of the agent as it applies to a listed host. */
interface ScopeOfListing extends Scope {
  readonly by: ListedHost
}

const known = new WeakMap<AgentScopes, WeakMap<object, AgentScopes>>()

/**
 * The scopes that govern an integration, also those that select it. Of a listed host: those that the agent has for the
 * integrations that list it, each with the methods and paths of the entry in place of its own rules. All of them match every call
 * there, so the strictest settings apply.
 */
export function scopesForListing(agent: AgentScopes, target: CompiledIntegration): AgentScopes {
  const { listing } = target
  if (listing === null && agent.selecting.length === 0) return agent
  const ofAgent = known.get(agent) ?? new WeakMap<object, AgentScopes>()
  known.set(agent, ofAgent)
  const place = listing ?? target
  const before = ofAgent.get(place)
  if (before !== undefined) return before
  const scopes =
    listing === null ? withSelecting(agent, target) : scopesOfHost(agent, target, listing)
  ofAgent.set(place, scopes)
  return scopes
}

/** Whether the agent has a scope for an integration, or for one that lists a host. */
export const hasScopeFor = (agent: AgentScopes, { integration, listing }: CompiledIntegration) =>
  agent.by_integration.has(integration.integration_id) ||
  (agent.selecting.length > 0 &&
    (listing?.map((by) => by.integration) ?? [integration]).some(
      (one) => scopesOf(agent, one).length > 0,
    ))

function scopesOf(
  { by_integration, selecting }: AgentScopes,
  { integration_id, labels }: Integration,
): readonly CompiledScope[] {
  const own = by_integration.get(integration_id)?.scopes ?? []
  const selected = selecting.filter(({ scope }) =>
    matchesSelector(scope.integration_selector, labels),
  )
  return selected.length === 0
    ? own
    : [...own, ...selected].sort((a, b) => compareScopes(a.scope, b.scope))
}

function withSelecting(agent: AgentScopes, { integration }: CompiledIntegration): AgentScopes {
  const { integration_id } = integration
  const scopes = scopesOf(agent, integration)
  const by_integration = new Map(
    scopes.length === 0 ? [] : [[integration_id, { scopes, merged: new Map() }]],
  )
  return { ...agent, by_integration, selecting: [] }
}

function scopesOfHost(
  agent: AgentScopes,
  { integration: { integration_id } }: CompiledIntegration,
  listing: readonly ListedHost[],
): AgentScopes {
  const scopes = listing.flatMap((by) => {
    const { methods, paths } = by.entry
    // What an approval allows is for the host that was asked for.
    const own = scopesOf(agent, by.integration).filter(({ scope }) => scope.grant === undefined)
    return own.map(
      ({ scope }): ScopeOfListing => ({
        ...scope,
        integration_id,
        rules: [{ methods, paths }],
        by,
      }),
    )
  })
  return { ...compileScopes(scopes), names: agent.names }
}

/**
 * The integration whose credential a call gets: its own; of a listed host the one of which an entry with `credential` and a scope
 * allow the call. Null if there is none.
 */
export function credentialOwner(
  { listing, integration, is_unlisted }: CompiledIntegration,
  scope: Scope,
): Integration | null {
  if (is_unlisted) return null
  if (listing === null) return integration
  const { by } = scope as Partial<ScopeOfListing>
  // What the caller sends in the place of the credential was removed for this one.
  return by?.entry.credential === true && by.integration === senderOf(listing)
    ? by.integration
    : null
}
