import { METADATA_RANGES } from '../core/egress/metadata-ranges.ts'
import { SPECIAL_RANGES } from '../core/egress/special-ranges.ts'
import { subtractRanges } from './subtract-ranges.ts'

/**
 * What Envoy's address filter denies: all special addresses but those in `allowed`, and every metadata address, also
 * inside an allowed range.
 * @param allowed ranges in CIDR notation
 */
export const refusedRanges = (allowed: readonly string[]): readonly string[] => [
  ...METADATA_RANGES,
  ...subtractRanges(SPECIAL_RANGES, allowed),
]

/** A range as Envoy's configuration has it. */
export function cidrRange(range: string): object {
  const [address_prefix, length] = range.split('/')
  return { address_prefix, prefix_len: Number(length) }
}
