import { decodePath } from '../request/decode-path.ts'

/** A literal segment, or null for `*`. */
export type PatternSegment = string | null

/** The parts before, between and after the `**` of a rule's path; one block if it has none. */
export interface PathPattern {
  readonly blocks: readonly (readonly PatternSegment[])[]
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
  return { blocks }
}

/** The same pattern with each literal rewritten, to one segment or several. */
export function mapLiterals(
  pattern: PathPattern,
  change: (literal: string) => readonly string[],
): PathPattern {
  const blocks = pattern.blocks.map((block) =>
    block.flatMap((part): readonly PatternSegment[] => (part === null ? [null] : change(part))),
  )
  return { blocks }
}
