/**
 * How a lenient upstream might read a segment: without case, without parameters after `;`.
 * NFKC and the way over upper case fold look-alikes such as `ſ`, which such upstreams take for `s`.
 */
export function foldSegment(segment: string): string {
  const cut = segment.indexOf(';')
  const text = cut === -1 ? segment : segment.slice(0, cut)
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) return text.normalize('NFKC').toUpperCase().toLowerCase()
  }
  return text.toLowerCase()
}

/** The same where an encoded slash separates. */
export const foldAndSplitSegment = (segment: string): readonly string[] =>
  segment.includes('/')
    ? segment.split('/').map(foldSegment).filter(isFilled)
    : [foldSegment(segment)]

/** The segments from `from` on as a lenient upstream might see them; empty ones fall away. */
export const foldSegments = (segments: readonly string[], from: number): readonly string[] =>
  segments.slice(from).map(foldSegment).filter(isFilled)

/** The same where an encoded slash separates. */
export const foldAndSplitSegments = (
  segments: readonly string[],
  from: number,
): readonly string[] => segments.slice(from).flatMap(foldAndSplitSegment).filter(isFilled)

const isFilled = (segment: string): boolean => segment !== ''
