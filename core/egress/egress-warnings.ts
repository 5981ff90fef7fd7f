import { setTimeout as delay } from 'node:timers/promises'
import { type AddressPolicy, literalAddress } from './address-policy.ts'
import type { ResolveHost } from './resolve-host.ts'
import { knownUrl } from '../bounded/parse-url.ts'

/** The settings that decide where calls, token requests or deliveries may connect to. */
export interface EgressRules {
  readonly policy: AddressPolicy
  /** The setting that allows private ranges. */
  readonly setting: 'AGW_EGRESS_ALLOW_CIDRS' | 'AGW_WEBHOOK_ALLOW_CIDRS'
  readonly resolve: ResolveHost
  /** Whether any private range is allowed. */
  readonly allows_private: boolean
  /** An origin that the egress filter exempts; null if there is none. */
  readonly exempt_origin: string | null
}

/** A URL that the gateway connects to, with the name of the member that holds it. */
export interface NamedUrl {
  readonly member: string
  readonly url: string
  /** Only calls use the exemption. */
  readonly is_call: boolean
}

/** The caller waits for the resolution. A name that takes longer counts as not resolvable. */
const DNS_WAIT_MS = 1000
/** Maximum number of addresses listed in a sentence. */
const ADDRESSES_SHOWN = 3

/** A name of one label, and top-level names that the public DNS does not have. */
const PRIVATE_NAME =
  /^[^.]+$|\.(?:internal|local|localhost|localdomain|lan|intranet|corp|private|svc|home\.arpa)$/

/**
 * One sentence for each URL that the egress filter would refuse to connect to. Only warns: the addresses of a name may change,
 * and the settings may too.
 */
export async function egressWarnings(
  rules: EgressRules,
  urls: readonly NamedUrl[],
  wait_ms = DNS_WAIT_MS,
): Promise<readonly string[]> {
  const found = await Promise.all(urls.map((url) => warningOf(rules, url, wait_ms)))
  return found.filter((warning) => warning !== null)
}

/**
 * Why Envoy's egress filter refuses calls to a base URL whose host is a literal address, in one or two sentences; null if it
 * does not. Of a name, null: the filter checks the addresses to which it resolves during the call.
 */
export function literalRefusal(rules: EgressRules, base_url: string): string | null {
  const { hostname, origin } = knownUrl(base_url)
  const literal = literalAddress(hostname)
  if (literal === null || origin === rules.exempt_origin) return null
  const refusal = rules.policy.refusalOfAddress(literal)
  return refusal === null ? null : refusedLiteral(hostname, literal, refusal, rules.setting)
}

async function warningOf(
  { policy, setting, resolve, allows_private, exempt_origin }: EgressRules,
  { member, url, is_call }: NamedUrl,
  wait_ms: number,
): Promise<string | null> {
  const { hostname, origin } = knownUrl(url)
  if (is_call && origin === exempt_origin) return null
  const host = hostname.replace(/\.$/, '')
  const literal = literalAddress(host)
  const addresses = literal === null ? await resolved(resolve, host, wait_ms) : [literal]
  const refusals = addresses.map((address) => policy.refusalOfAddress(address))
  // Envoy checks only addresses, a token request the name too.
  if (refusals.includes(null) && (is_call || policy.refusalOfHost(host) === null)) return null
  if (literal !== null)
    return `${member}: ${refusedLiteral(host, literal, refusals[0] ?? '', setting)}`
  if (policy.refusalOfHost(host) === 'metadata') return `${member}: ${isMetadata(host)}`
  const allow = (some: readonly string[]): string => howToAllow(setting, some)
  if (addresses.length === 0)
    return PRIVATE_NAME.test(host) && !allows_private
      ? `${member}: ${host} is a private name. ${allow([])}`
      : null
  const shown = addresses.slice(0, ADDRESSES_SHOWN).join(', ')
  const usable = addresses.filter((_, i) => refusals[i] !== 'metadata')
  return usable.length === 0
    ? `${member}: ${host} resolves to a cloud metadata service (${shown}). ${NEVER}`
    : `${member}: ${host} resolves only to addresses that are not public (${shown}). ${allow(usable)}`
}

function refusedLiteral(
  host: string,
  literal: string,
  refusal: string,
  setting: EgressRules['setting'],
): string {
  switch (refusal) {
    case 'metadata':
      return isMetadata(host)
    case 'ipv4Mapped':
      return `${literal} is an IPv4 address in IPv6 form. ${REFUSED}; use the IPv4 address.`
    default:
      return `${literal} is not a public address (${WORDS[refusal] ?? refusal}). ${howToAllow(setting, [literal])}`
  }
}

const isMetadata = (host: string): string => `${host} is a cloud metadata service. ${NEVER}`

async function resolved(
  resolve: ResolveHost,
  host: string,
  wait_ms: number,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const late = delay(wait_ms, [], { signal: stop.signal }).catch(() => [])
  try {
    return await Promise.race([resolve(host).catch(() => []), late])
  } finally {
    stop.abort()
  }
}

const REFUSED = 'Connections to it are refused'
const NEVER = `${REFUSED}, and no setting allows them.`

/** @param addresses one of which would have to be allowed */
function howToAllow(setting: EgressRules['setting'], addresses: readonly string[]): string {
  const [first] = addresses
  if (first === undefined) return `${REFUSED} unless ${setting} includes its address.`
  const range = `${first}/${first.includes(':') ? 128 : 32}`
  return `${REFUSED} unless ${setting} includes its range, for example ${range}.`
}

/** Descriptions of the ranges of `AddressPolicy` whose names do not explain themselves. */
const WORDS: Readonly<Record<string, string>> = {
  uniqueLocal: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
  rfc6052: 'an IPv4 address behind NAT64',
  rfc6145: 'an IPv4 address in IPv6 form',
  '6to4': 'an IPv4 address behind 6to4',
}
