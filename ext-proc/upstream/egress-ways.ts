import { AddressPolicy, literalAddress } from '../../core/egress/address-policy.ts'
import { AddressRefused } from '../../core/egress/allowed-addresses.ts'
import {
  checkProxiedHost,
  type EgressProxy,
  egressProxyOf,
  type EgressProxySettings,
} from '../../core/egress/egress-proxy.ts'
import {
  createHostResolver,
  HostNotFound,
  type ResolveHost,
} from '../../core/egress/resolve-host.ts'
import type { Settings } from '../../core/settings/settings.ts'

/** How Envoy is to connect to a host. */
export type EgressWay =
  | { readonly kind: 'direct' }
  /** `connect`: host and port, as CONNECT names them. */
  | { readonly kind: 'proxied'; readonly connect: string }
  | { readonly kind: 'refused'; readonly cause: 'address_denied' | 'dns_failed' | 'dns_busy' }

type Refusal = Extract<EgressWay, { kind: 'refused' }>['cause']

export const DIRECT: EgressWay = { kind: 'direct' }

export interface EgressWaysParts {
  readonly proxy: EgressProxy | null
  /** For hosts of integrations, and for hosts in no integration. */
  readonly policies: Readonly<Record<'listed' | 'unlisted', AddressPolicy>>
  readonly resolve: ResolveHost
  readonly nowMs: () => number
}

/** As Envoy's caches of names; the oldest leaves. */
const NAMES_MAX = 8_192
/** Names that are looked up at a time. */
const LOOKUPS_MAX = 1_024
/** How long an answer of DNS is used; a failure for less, so that a host that has come back is called. */
const ALLOWED_MS = 30_000
const REFUSED_MS = 2_000

interface Known {
  readonly refusal: Refusal | null
  readonly until_ms: number
}

/**
 * Chooses between a direct connection, for which Envoy's address filter judges the host, and the egress proxy, for which it is
 * judged here. Unlisted hosts have a cache of their own, so that their names do not displace those of integrations.
 */
export class EgressWays {
  readonly #parts: EgressWaysParts
  readonly #known = { listed: new Map<string, Known>(), unlisted: new Map<string, Known>() }
  readonly #lookups = {
    listed: new Map<string, Promise<Refusal | null>>(),
    unlisted: new Map<string, Promise<Refusal | null>>(),
  }

  constructor(parts: EgressWaysParts) {
    this.#parts = parts
  }

  /** @param host as a URL spells it */
  wayTo(host: string, port: number, is_unlisted: boolean): EgressWay | Promise<EgressWay> {
    const { proxy, nowMs } = this.#parts
    if (proxy === null || proxy.isExcepted(host, port)) return DIRECT
    const list = is_unlisted ? 'unlisted' : 'listed'
    const known = this.#known[list].get(host)
    const connect = `${host}:${port}`
    if (known !== undefined && nowMs() < known.until_ms) return wayOf(connect, known.refusal)
    return this.#lookUp(proxy, host, list).then((refusal) => wayOf(connect, refusal))
  }

  #lookUp(proxy: EgressProxy, host: string, list: 'listed' | 'unlisted'): Promise<Refusal | null> {
    const running = this.#lookups[list]
    const same = running.get(host)
    if (same !== undefined) return same
    if (running.size >= LOOKUPS_MAX) return Promise.resolve('dns_busy')
    const { policies, resolve } = this.#parts
    const asked = checkProxiedHost(proxy, host, policies[list], resolve)
      .then(() => null, refusalOf)
      .then((refusal) => {
        running.delete(host)
        this.#keep(list, host, refusal)
        return refusal
      })
    running.set(host, asked)
    return asked
  }

  #keep(list: 'listed' | 'unlisted', host: string, refusal: Refusal | null): void {
    const known = this.#known[list]
    known.delete(host)
    const oldest = known.size < NAMES_MAX ? undefined : known.keys().next().value
    if (oldest !== undefined) known.delete(oldest)
    // What a literal is does not change, but it costs as little to judge it again.
    const ms = refusal === null && literalAddress(host) === null ? ALLOWED_MS : REFUSED_MS
    known.set(host, { refusal, until_ms: this.#parts.nowMs() + ms })
  }
}

export const openEgressWays = (
  settings: EgressProxySettings & Pick<Settings, 'egressAllowCidrs' | 'dnsResolvers'>,
  nowMs: () => number,
): EgressWays =>
  new EgressWays({
    proxy: egressProxyOf(settings),
    policies: {
      listed: new AddressPolicy(settings.egressAllowCidrs),
      unlisted: new AddressPolicy([]),
    },
    resolve: createHostResolver(settings.dnsResolvers),
    nowMs,
  })

const wayOf = (connect: string, refusal: Refusal | null): EgressWay =>
  refusal === null ? { kind: 'proxied', connect } : { kind: 'refused', cause: refusal }

/** @throws what is no answer of DNS */
function refusalOf(error: unknown): Refusal {
  if (error instanceof AddressRefused) return 'address_denied'
  if (error instanceof HostNotFound) return 'dns_failed'
  throw error
}
