import ipaddr from 'ipaddr.js'

/** A range of addresses as its first address, how many bits are fixed, and how many an address has. */
interface Range {
  readonly first: bigint
  readonly length: number
  readonly bits: 32 | 128
}

/**
 * The CIDR ranges that hold every address of `ranges` but none of `holes`, since Envoy's address filter can deny only.
 * IPv4 and IPv6 are apart: a hole of one never opens an address of the other.
 */
export function subtractRanges(ranges: readonly string[], holes: readonly string[]): string[] {
  const cut = holes.map(parseRange)
  return ranges
    .map(parseRange)
    .flatMap((range) => without(range, cut))
    .map(formatRange)
}

function without(range: Range, holes: readonly Range[]): Range[] {
  const inside = holes.filter((hole) => overlaps(range, hole))
  if (inside.length === 0) return [range]
  if (inside.some((hole) => hole.length <= range.length)) return []
  const length = range.length + 1
  const upper = range.first + (1n << BigInt(range.bits - length))
  return [
    ...without({ ...range, length }, inside),
    ...without({ ...range, length, first: upper }, inside),
  ]
}

/** Of two ranges in CIDR notation that overlap, one holds the other. */
function overlaps(one: Range, other: Range): boolean {
  if (one.bits !== other.bits) return false
  const shared = BigInt(one.bits - Math.min(one.length, other.length))
  return one.first >> shared === other.first >> shared
}

function parseRange(text: string): Range {
  const [address, length] = ipaddr.parseCIDR(text)
  const bits = address.kind() === 'ipv4' ? 32 : 128
  const value = BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`)
  const hostBits = BigInt(bits - length)
  return { first: (value >> hostBits) << hostBits, length, bits }
}

function formatRange({ first, length, bits }: Range): string {
  const bytes = Buffer.from(first.toString(16).padStart(bits / 4, '0'), 'hex')
  return `${ipaddr.fromByteArray([...bytes]).toString()}/${length}`
}
