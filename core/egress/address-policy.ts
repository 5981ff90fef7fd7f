import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { METADATA_RANGES } from './metadata-ranges.ts'
import { SPECIAL_RANGES } from './special-ranges.ts'

/** Names of cloud metadata services, which some networks resolve to other addresses. */
const METADATA_NAMES = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'api.metadata.cloud.ibm.com',
])

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

const METADATA = METADATA_RANGES.map((text): Range => ipaddr.parseCIDR(text))
const SPECIAL = SPECIAL_RANGES.map((text): Range => ipaddr.parseCIDR(text))

/**
 * The addresses that the gateway itself may connect to, for a webhook or a token: public unicast addresses, and the ranges that
 * an operator allows for this purpose (threat model, rule 4).
 */
export class AddressPolicy {
  readonly #allowed: readonly Range[]

  /** @param allowed ranges in CIDR notation */
  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((text) => ipaddr.parseCIDR(text))
  }

  /** Why the address is refused, in one word; null if it is allowed. */
  refusalOfAddress(text: string): string | null {
    if (isIP(text) === 0 || text.includes('%')) return 'not_an_address'
    const address = ipaddr.parse(text)
    if (METADATA.some((range) => contains(range, address))) return 'metadata'
    // A mapped address embeds an IPv4 address; no resolver of public names returns one.
    if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) return 'ipv4Mapped'
    if (this.#allowed.some((range) => contains(range, address))) return null
    const range = address.range()
    if (range !== 'unicast') return range
    return SPECIAL.some((refused) => contains(refused, address)) ? 'reserved' : null
  }

  /** The same for the host of a URL, as WHATWG URL spells it; a name is judged later, by the addresses it resolves to. */
  refusalOfHost(hostname: string): string | null {
    const host = hostname.replace(/\.$/, '').toLowerCase()
    if (METADATA_NAMES.has(host)) return 'metadata'
    const literal = literalAddress(host)
    return literal === null ? null : this.refusalOfAddress(literal)
  }
}

/** The address in the host of a URL, without brackets; null for a name. */
export function literalAddress(hostname: string): string | null {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(text) > 0 ? text : null
}

function contains([network, length]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network as ipaddr.IPv4, length)
}
