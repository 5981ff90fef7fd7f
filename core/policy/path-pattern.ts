import { decodePath, isEmptySegment } from './decode-path.ts'

/** A literal segment, or null for `*`. */
type PatternSegment = string | null

/** What stands before, between and after the `**` of a rule's path; one block when it has none. */
export interface PathPattern {
  readonly blocks: readonly (readonly PatternSegment[])[]
  /** The fewest segments that can match. */
  readonly min_segments: number
}

export type PatternProblem =
  | 'bad_path'
  | 'empty_segment'
  | 'has_query'
  | 'no_leading_slash'
  | 'partial_wildcard'
  | 'too_long'
  | 'whitespace'

const PATTERN_LENGTH_LIMIT = 2_048

/**
 * Reads a path of a rule: `*` is one segment, `**` any number. Everything else is literal and decoded as in a
 * target, so a literal star is written `%2A`; `models*` is refused rather than taken literally.
 */
export function parsePathPattern(text: string): PathPattern | PatternProblem {
  if (!text.startsWith('/')) return 'no_leading_slash'
  if (text.length > PATTERN_LENGTH_LIMIT) return 'too_long'
  if (/\s/.test(text)) return 'whitespace'
  if (/[?#]/.test(text)) return 'has_query'
  const decoded = decodePath(Buffer.from(text, 'utf8').toString('latin1'))
  if (typeof decoded === 'string') return 'bad_path'
  if (decoded.has_empty_segment) return 'empty_segment'
  const written = text.split('/')
  const blocks: PatternSegment[][] = [[]]
  for (const [i, segment] of decoded.segments.entries()) {
    const spelling = written[i + 1] ?? ''
    if (spelling === '**') blocks.push([])
    else if (spelling === '*') blocks.at(-1)?.push(null)
    else if (spelling.includes('*')) return 'partial_wildcard'
    else blocks.at(-1)?.push(segment)
  }
  return patternOf(blocks)
}

/** The same pattern with each literal rewritten, to one segment or several. */
export function mapLiterals(
  pattern: PathPattern,
  change: (literal: string) => readonly string[],
): PathPattern {
  const mapped = pattern.blocks.map((block) =>
    block.flatMap((part): readonly PatternSegment[] => (part === null ? [null] : change(part))),
  )
  return patternOf(mapped)
}

/**
 * Whether `segments` from `from` on match. Each block between two `**` is taken at the first place it fits,
 * which never loses a match, so nothing is tried twice: at most path times longest block.
 */
export function matchesPath(
  pattern: PathPattern,
  segments: readonly string[],
  from: number,
): boolean {
  const { blocks, min_segments } = pattern
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

function patternOf(blocks: readonly (readonly PatternSegment[])[]): PathPattern {
  return { blocks, min_segments: blocks.reduce((sum, block) => sum + block.length, 0) }
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
