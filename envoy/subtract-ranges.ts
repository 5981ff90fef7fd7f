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
    .flatMap((range) => cut.reduce((rest, hole) => rest.flatMap((r) => without(r, hole)), [range]))
    .map(formatRange)
}

function without(range: Range, hole: Range): Range[] {
  if (range.bits !== hole.bits) return [range]
  const shared = BigInt(range.bits - Math.min(range.length, hole.length))
  if (range.first >> shared !== hole.first >> shared) return [range]
  if (hole.length <= range.length) return []
  const length = range.length + 1
  const upper = range.first + (1n << BigInt(range.bits - length))
  return [
    ...without({ ...range, length }, hole),
    ...without({ ...range, length, first: upper }, hole),
  ]
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
