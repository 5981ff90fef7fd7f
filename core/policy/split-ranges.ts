import type { SplitReading } from './decode-path.ts'
import type { SegmentRange } from './fold-segments.ts'

const NO_RANGES: readonly SegmentRange[] = []

/**
 * The paths below the base URL that upstreams may see which split at encoded slashes: with the empty segments that
 * arise, and without them, since some upstreams merge slashes.
 * @param from how many segments as written the base URL has.
 */
export function splitRanges(
  readings: readonly SplitReading[],
  from: number,
): readonly SegmentRange[] {
  if (readings.length === 0) return NO_RANGES
  const ranges: SegmentRange[] = []
  for (const reading of readings) {
    const segments = reading.slice(from).flat()
    // A trailing slash matches as without.
    if (segments.at(-1) === '') segments.pop()
    ranges.push({ segments, from: 0 })
    if (segments.includes(''))
      ranges.push({ segments: segments.filter((segment) => segment !== ''), from: 0 })
  }
  return ranges
}
