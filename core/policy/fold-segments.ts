/** Decoded segments from a position on. */
export interface SegmentRange {
  readonly segments: readonly string[]
  readonly from: number
}

/**
 * How a lenient upstream might read a segment: without case, without parameters after `;`.
 * NFKC and the way over upper case fold look-alikes such as `ſ`, which such upstreams take for `s`.
 */
export function foldSegment(segment: string): string {
  if (isFolded(segment)) return segment
  const cut = segment.indexOf(';')
  const text = cut === -1 ? segment : segment.slice(0, cut)
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return text.normalize('NFKC').toUpperCase().toLowerCase()
  }
  return text.toLowerCase()
}

/** The same where an encoded slash separates. */
export const foldAndSplitSegment = (segment: string): readonly string[] =>
  segment.split('/').map(foldSegment).filter(isFilled)

/** The path as a lenient upstream might see it, empty segments dropped; the range itself where that is the same. */
export function foldSegments(range: SegmentRange): SegmentRange {
  if (!someFrom(range, (segment) => segment === '' || !isFolded(segment))) return range
  return { segments: range.segments.slice(range.from).map(foldSegment).filter(isFilled), from: 0 }
}

/** The same where an encoded slash separates. */
export function foldAndSplitSegments(range: SegmentRange): SegmentRange {
  if (!someFrom(range, (segment) => segment.includes('/'))) return foldSegments(range)
  return { segments: range.segments.slice(range.from).flatMap(foldAndSplitSegment), from: 0 }
}

function someFrom({ segments, from }: SegmentRange, test: (segment: string) => boolean): boolean {
  for (let i = from; i < segments.length; i++) if (test(segments[i] ?? '')) return true
  return false
}

/** Most segments are lower-case ASCII without parameters. */
function isFolded(segment: string): boolean {
  for (let i = 0; i < segment.length; i++) {
    const c = segment.charCodeAt(i)
    if ((c >= 0x41 && c <= 0x5a) || c === 0x3b || c > 0x7f) return false
  }
  return true
}

const isFilled = (segment: string): boolean => segment !== ''
