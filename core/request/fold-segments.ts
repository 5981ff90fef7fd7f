import { foldCompatible } from './fold-compatible.ts'

/** Decoded segments from a position on. */
export interface SegmentRange {
  readonly segments: readonly string[]
  readonly from: number
}

/**
 * How a lenient upstream might read a segment: without case, without parameters after `;` (or after `?`, `&` and `#`, where it
 * decodes first), and without the dots and spaces at its end that Windows drops. Compatibility normalization and conversion to
 * upper case first also fold look-alikes such as `ſ`, which such upstreams read as `s`.
 */
export function foldSegment(segment: string): string {
  if (isFolded(segment)) return segment
  const text = foldCompatible(segment)
  const cut = text.search(PARAMETERS)
  const name = cut === -1 ? text : text.slice(0, cut)
  return name.toUpperCase().toLowerCase().replace(TRAILING, '')
}

const PARAMETERS = /[;?&#]/
const TRAILING = /(?<![. ])[. ]+$/

/** The same where an encoded slash separates. */
export const foldAndSplitSegment = (segment: string): readonly string[] =>
  foldCompatible(segment).split('/').map(foldSegment).filter(isFilled)

/** The path as a lenient upstream might read it, without empty segments; the given range if that is the same. */
export function foldSegments(range: SegmentRange): SegmentRange {
  if (!someFrom(range, (segment) => segment === '' || !isFolded(segment))) return range
  return { segments: range.segments.slice(range.from).map(foldSegment).filter(isFilled), from: 0 }
}

/**
 * The same where an encoded slash separates.
 * @param folded by `foldSegments`; the result if nothing separates
 */
export function foldAndSplitSegments(range: SegmentRange, folded: SegmentRange): SegmentRange {
  if (!someFrom(range, (segment) => foldCompatible(segment).includes('/'))) return folded
  return { segments: range.segments.slice(range.from).flatMap(foldAndSplitSegment), from: 0 }
}

function someFrom({ segments, from }: SegmentRange, test: (segment: string) => boolean): boolean {
  for (let i = from; i < segments.length; i++) if (test(segments[i] ?? '')) return true
  return false
}

const FOLDED_SIGNS: ReadonlySet<number> = new Set(Buffer.from(';?&#'))

/** Most segments are lower-case ASCII without parameters. */
export function isFolded(segment: string): boolean {
  for (let i = 0; i < segment.length; i++) {
    const c = segment.charCodeAt(i)
    if ((c >= 0x41 && c <= 0x5a) || FOLDED_SIGNS.has(c) || c > 0x7f) return false
  }
  const last = segment.charCodeAt(segment.length - 1)
  return last !== 0x2e && last !== 0x20
}

const isFilled = (segment: string): boolean => segment !== ''
