import { isUtf8 } from 'node:buffer'
import { isStreamSafe } from '../bounded/normalize-text.ts'
import { foldCompatible } from './fold-compatible.ts'

export type PathProblem =
  | 'backslash'
  | 'bad_percent_encoding'
  | 'control_character'
  | 'dot_segment'
  | 'encoded_too_deep'
  | 'invalid_utf8'
  | 'too_long'
  | 'too_many_marks'
  | 'too_many_segments'

export interface DecodedPath {
  /** Decoded until stable; a segment may contain a `/` that was encoded, which is not a separator here. */
  readonly segments: readonly string[]
  /** Whether there is an empty segment before the last one, including one that has only parameters (`/;x/`). */
  readonly has_empty_segment: boolean
  readonly trailing_slash: boolean
  /** The other readings of the path: split at encoded slashes, or ended early. Empty for nearly every path. */
  readonly split_readings: readonly SplitReading[]
}

/**
 * For each segment as written, the pieces that an upstream sees if it decodes before it splits; none after the end of the path.
 */
export type SplitReading = readonly (readonly string[])[]

/** Rounds of percent-decoding after which a segment must be stable. */
const DECODE_ROUNDS_LIMIT = 4
/** A single character may stand for eighteen, as in Arabic; a path of such characters would be work for each later check. */
const FOLDED_GROWTH_MAX = 3
const FOLDED_FREE = 128
/** More than any API has; bounds the work of rules and tries. */
const PATH_SEGMENTS_LIMIT = 512
const NO_READINGS: readonly SplitReading[] = []

/**
 * Splits and decodes a path as the most lenient upstream might, and refuses what any upstream could read as a parent directory.
 * @param raw begins with `/`, ends before `?`; one character per byte (latin1).
 */
export function decodePath(raw: string): DecodedPath | PathProblem {
  let isPlain = true
  for (let i = 0; i < raw.length; i++) {
    const c = raw.charCodeAt(i)
    if (c === 0x5c) return 'backslash'
    if (c < 0x20 || c === 0x7f) return 'control_character'
    if (c === 0x25 || c === 0x26 || c === 0x3b || c > 0x7f) isPlain = false
  }
  const parts = raw.split('/')
  const last = parts.length - 1
  if (last > PATH_SEGMENTS_LIMIT) return 'too_many_segments'
  const trailing_slash = parts[last] === ''
  const end = trailing_slash ? last : parts.length
  const segments: string[] = []
  let has_empty_segment = false
  let hides_slash = false
  for (let i = 1; i < end; i++) {
    const part = parts[i] ?? ''
    if (part === '.' || part === '..') return 'dot_segment'
    if (isPlain) {
      segments.push(part)
      if (part === '') has_empty_segment = true
      continue
    }
    const decoded = decodeSegment(part)
    if (typeof decoded !== 'string') return decoded.problem
    segments.push(decoded)
    hides_slash ||= mayHideSlash(decoded) || (i < end - 1 && mayHideEnd(decoded))
    if (isEmptySegment(decoded)) has_empty_segment = true
  }
  const split_readings = hides_slash ? splitReadings(parts.slice(1, end)) : NO_READINGS
  if (typeof split_readings === 'string') return split_readings
  return { segments, has_empty_segment, trailing_slash, split_readings }
}

/** Some upstreams remove parameters, which leaves nothing of `;x`. */
export const isEmptySegment = (segment: string): boolean =>
  segment === '' || segment.charCodeAt(0) === 0x3b

/** Also if a slash appears only after the name is folded, or folded and then decoded. */
function mayHideSlash(text: string): boolean {
  if (text.includes('/')) return true
  const folded = foldCompatible(text)
  return folded !== text && (folded.includes('/') || folded.includes('%'))
}

/** Ends the path for an upstream that decodes it before it looks for a query or fragment. */
const PATH_END = /[?&#]/
const mayHideEnd = (text: string): boolean => PATH_END.test(foldCompatible(text))

function decodeSegment(part: string): string | { readonly problem: PathProblem } {
  if (!everyEscapeIsWhole(part)) return { problem: 'bad_percent_encoding' }
  let bytes = Buffer.from(part, 'latin1')
  for (let round = 0; round <= DECODE_ROUNDS_LIMIT; round++) {
    if (!isUtf8(bytes)) return { problem: 'invalid_utf8' }
    const text = bytes.toString('utf8')
    const problem = pieceProblem(text) ?? foldedProblem(text, DECODE_ROUNDS_LIMIT - round)
    if (problem !== null) return { problem }
    const length = decodeInPlace(bytes)
    if (length === bytes.length) return text
    bytes = bytes.subarray(0, length)
  }
  return { problem: 'encoded_too_deep' }
}

/**
 * The same for an upstream that folds names before it uses them (a file system, or the normalisation of a framework): there
 * `．．` is the parent directory, and `％2e` is another encoding of a dot.
 */
function foldedProblem(text: string, rounds: number): PathProblem | null {
  if (!isStreamSafe(text)) return 'too_many_marks'
  let folded = foldCompatible(text)
  if (folded === text) return null
  if (folded.length > FOLDED_GROWTH_MAX * text.length + FOLDED_FREE) return 'too_long'
  for (let round = 0; ; round++) {
    const problem = pieceProblem(folded)
    if (problem !== null) return problem
    const bytes = Buffer.from(folded, 'utf8')
    const length = decodeInPlace(bytes)
    if (length === bytes.length) return null
    if (round >= rounds) return 'encoded_too_deep'
    const decoded = bytes.subarray(0, length)
    if (!isUtf8(decoded)) return 'invalid_utf8'
    folded = foldCompatible(decoded.toString('utf8'))
  }
}

/**
 * An upstream may stop decoding after any round, so each number of rounds is a separate reading, and so is each of them with
 * names folded. Only the distinct readings are returned.
 */
function splitReadings(parts: readonly string[]): readonly SplitReading[] | PathProblem {
  const readings = new Map<string, SplitReading>()
  const written = parts.map((part) => Buffer.from(part, 'latin1').toString('utf8'))
  const isPlain = written.every((text) => !text.includes('%') && foldCompatible(text) === text)
  for (const fold of isPlain ? [unfolded] : [unfolded, foldCompatible]) {
    let texts = written.map(fold)
    for (let round = 0; round <= DECODE_ROUNDS_LIMIT; round++) {
      const reading = texts.map((text) => text.split('/').map((piece) => decodeFully(piece, fold)))
      const pieces = reading.reduce((sum, { length }) => sum + length, 0)
      if (pieces > PATH_SEGMENTS_LIMIT) return 'too_many_segments'
      if (pieces > parts.length) readings.set(JSON.stringify(reading), reading)
      const ended = endEarly(reading)
      if (ended !== null) readings.set(JSON.stringify(ended), ended)
      const next = texts.map((text) => fold(decodeOnce(text)))
      if (next.every((text, i) => text === texts[i])) break
      texts = next
    }
  }
  return [...readings.values()]
}

/**
 * The reading up to the first character that may end a path: `/users/1%23/posts` is `/users/1` for an upstream that decodes and
 * then parses. Null if there is none, or only in the last segment, where no rule distinguishes the two.
 */
function endEarly(reading: SplitReading): SplitReading | null {
  const at = reading.findIndex((pieces) => pieces.some((piece) => PATH_END.test(piece)))
  if (at === -1 || at === reading.length - 1) return null
  const pieces = reading[at] ?? []
  const place = pieces.findIndex((piece) => PATH_END.test(piece))
  const last = (pieces[place] ?? '').replace(/[?&#].*$/s, '')
  return reading.map((kept, i) => {
    if (i !== at) return i < at ? kept : []
    return last === '' ? kept.slice(0, place) : [...kept.slice(0, place), last]
  })
}

const unfolded = (text: string): string => text

function decodeFully(text: string, fold: (text: string) => string): string {
  let stable = text
  for (let round = 0; round < DECODE_ROUNDS_LIMIT; round++) {
    const next = fold(decodeOnce(stable))
    if (next === stable) break
    stable = next
  }
  return stable
}

/** One round of percent-decoding; bytes that are not UTF-8 become U+FFFD. */
export function decodeOnce(text: string): string {
  if (!text.includes('%')) return text
  const bytes = Buffer.from(text, 'utf8')
  return bytes.toString('utf8', 0, decodeInPlace(bytes))
}

/** Upstreams differ in how they read `%u002e` and a lone `%`. */
function everyEscapeIsWhole(part: string): boolean {
  for (let i = part.indexOf('%'); i !== -1; i = part.indexOf('%', i + 3)) {
    if (hexDigit(part.charCodeAt(i + 1)) < 0 || hexDigit(part.charCodeAt(i + 2)) < 0) return false
  }
  return true
}

/** Checks each piece between `/`, `\`, `;` and the ends of a path, because an upstream may split or end it there after decoding. */
function pieceProblem(text: string): PathProblem | null {
  let start = 0
  for (let i = 0; i <= text.length; i++) {
    const c = i === text.length ? 0x2f : text.charCodeAt(i)
    if (c === 0x5c) return 'backslash'
    if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return 'control_character'
    const isEnd = c === 0x3f || c === 0x26 || c === 0x23
    if (c !== 0x2f && c !== 0x3b && !isEnd) continue
    if (isDots(text, start, i)) return 'dot_segment'
    start = i + 1
  }
  return null
}

/** `.` or `..`, also with spaces around, which Windows drops from a name. */
function isDots(text: string, start: number, end: number): boolean {
  let from = start
  let to = end
  while (from < to && text.charCodeAt(from) === 0x20) from++
  while (from < to && text.charCodeAt(to - 1) === 0x20) to--
  const isOne = to - from === 1
  if (!isOne && to - from !== 2) return false
  return text.charCodeAt(from) === 0x2e && (isOne || text.charCodeAt(from + 1) === 0x2e)
}

/** One round of percent-decoding; returns the new length, which is the old one if there was nothing to decode. */
function decodeInPlace(bytes: Buffer): number {
  let to = 0
  for (let from = 0; from < bytes.length; from++) {
    const byte = bytes[from] ?? 0
    const high = byte === 0x25 ? hexDigit(bytes[from + 1] ?? 0) : -1
    const low = high < 0 ? -1 : hexDigit(bytes[from + 2] ?? 0)
    if (low < 0) {
      bytes[to++] = byte
    } else {
      bytes[to++] = high * 16 + low
      from += 2
    }
  }
  return to
}

/** The value of a hexadecimal digit's code, -1 of any other, NaN (the end of a string) included. */
export function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (code >= 0x41 && code <= 0x46) return code - 0x37
  if (code >= 0x61 && code <= 0x66) return code - 0x57
  return -1
}
