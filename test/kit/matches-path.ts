import { isEmptySegment } from '../../core/request/decode-path.ts'
import type { PathPattern, PatternSegment } from '../../core/decision/path-pattern.ts'

/**
 * Whether `segments` from `from` on match one pattern, by another way than the product's trie. Each block between two `**` is taken at the first place it fits,
 * which never loses a match, so nothing is tried twice: at most path times longest block.
 */
export function matchesPath(
  pattern: PathPattern,
  segments: readonly string[],
  from: number,
): boolean {
  const { blocks } = pattern
  const min_segments = blocks.reduce((sum, block) => sum + block.length, 0)
  const available = segments.length - from
  const first = blocks[0] ?? []
  if (available < min_segments) return false
  if (blocks.length === 1) return available === min_segments && fitsAt(first, segments, from)
  const last = blocks[blocks.length - 1] ?? []
  const end = segments.length - last.length
  if (!fitsAt(first, segments, from) || !fitsAt(last, segments, end)) return false
  let at = from + first.length
  for (let i = 1; i < blocks.length - 1; i++) {
    const block = blocks[i] ?? []
    while (at + block.length <= end && !fitsAt(block, segments, at)) at++
    if (at + block.length > end) return false
    at += block.length
  }
  return true
}

/** `*` wants a segment that is there: an upstream that drops empty ones would see another path. */
function fitsAt(
  block: readonly PatternSegment[],
  segments: readonly string[],
  at: number,
): boolean {
  for (let i = 0; i < block.length; i++) {
    const want = block[i]
    const have = segments[at + i] ?? ''
    if (want === null ? isEmptySegment(have) : want !== have) return false
  }
  return true
}
