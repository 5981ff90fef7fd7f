import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { METADATA_RANGES } from './metadata-ranges.ts'

/** Names of the clouds' metadata services, which some networks resolve to addresses of their own. */
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
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3')
/** Inside 2000::/3, and not for one host on the Internet: protocol assignments with Teredo, documentation, 6to4. */
const REFUSED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((text) =>
  ipaddr.parseCIDR(text),
)

/**
 * Where this gateway itself may connect to, for a webhook or for a token: public unicast addresses, and the ranges that
 * an operator allows for the purpose (threat model, rule 4).
 */
export class AddressPolicy {
  readonly #allowed: readonly Range[]

  /** @param allowed ranges in CIDR notation */
  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((text) => ipaddr.parseCIDR(text))
  }

  /** Why the address is refused, in a word; null when it may be connected to. */
  refusalOfAddress(text: string): string | null {
    if (isIP(text) === 0 || text.includes('%')) return 'not_an_address'
    const address = ipaddr.parse(text)
    if (METADATA.some((range) => contains(range, address))) return 'metadata'
    // A mapped address is IPv4 in disguise; no resolver of public names needs one.
    if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) return 'ipv4Mapped'
    if (this.#allowed.some((range) => contains(range, address))) return null
    const range = address.range()
    if (range !== 'unicast') return range
    if (address instanceof ipaddr.IPv4) return null
    if (!contains(GLOBAL_UNICAST_V6, address)) return 'reserved'
    return REFUSED_V6.some((refused) => contains(refused, address)) ? 'reserved' : null
  }

  /** The same for the host of a URL, as WHATWG URL spells it; a name is judged by what it resolves to, later. */
  refusalOfHost(hostname: string): string | null {
    const host = hostname.replace(/\.$/, '').toLowerCase()
    if (METADATA_NAMES.has(host)) return 'metadata'
    const literal = literalAddress(host)
    return literal === null ? null : this.refusalOfAddress(literal)
  }
}

/** The address that a host of a URL spells, without brackets; null for a name. */
export function literalAddress(hostname: string): string | null {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(text) > 0 ? text : null
}

function contains([network, length]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network as ipaddr.IPv4, length)
}
