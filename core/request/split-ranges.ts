import type { SplitReading } from './decode-path.ts'
import type { SegmentRange } from './fold-segments.ts'

const NO_RANGES: readonly SegmentRange[] = []

/**
 * The paths below the base URL as upstreams may read them that split at encoded slashes or end the path early: with the resulting
 * empty segments, and without them, because some upstreams merge slashes. @param from the number of segments of the base URL as written.
 */
export function splitRanges(
  readings: readonly SplitReading[],
  from: number,
): readonly SegmentRange[] {
  if (readings.length === 0) return NO_RANGES
  const ranges: SegmentRange[] = []
  for (const reading of readings) {
    const segments = reading.slice(from).flat()
    // A trailing slash makes no difference.
    if (segments.at(-1) === '') segments.pop()
    ranges.push({ segments, from: 0 })
    if (segments.includes(''))
      ranges.push({ segments: segments.filter((segment) => segment !== ''), from: 0 })
  }
  return ranges
}
