import { isUtf8 } from 'node:buffer'

export type PathFault =
  | 'backslash'
  | 'bad_percent_encoding'
  | 'control_character'
  | 'dot_segment'
  | 'encoded_too_deep'
  | 'invalid_utf8'
  | 'too_many_segments'

export interface DecodedPath {
  /** Decoded until stable; a segment may hold `/` that was encoded, which never separates. */
  readonly segments: readonly string[]
  /** An empty segment other than the last one, also one that has only parameters (`/;x/`). */
  readonly has_empty_segment: boolean
  readonly trailing_slash: boolean
}

/** Rounds of percent-decoding after which a segment must be stable (threats.md 8). */
const DECODE_ROUNDS_LIMIT = 4
/** More than any API has; bounds what a rule or a trie walks. */
export const PATH_SEGMENTS_LIMIT = 512

/**
 * Splits and decodes a path the way the most eager upstream might, and refuses what any of them could read as
 * a climb.
 * @param raw begins with `/`, ends before `?`; one character a byte (latin1).
 */
export function decodePath(raw: string): DecodedPath | PathFault {
  let isPlain = true
  for (let i = 0; i < raw.length; i++) {
    const c = raw.charCodeAt(i)
    if (c === 0x5c) return 'backslash'
    if (c < 0x20 || c === 0x7f) return 'control_character'
    if (c === 0x25 || c === 0x3b || c > 0x7f) isPlain = false
  }
  const parts = raw.split('/')
  const last = parts.length - 1
  if (last > PATH_SEGMENTS_LIMIT) return 'too_many_segments'
  const trailing_slash = parts[last] === ''
  const segments: string[] = []
  let has_empty_segment = false
  for (let i = 1; i < (trailing_slash ? last : parts.length); i++) {
    const part = parts[i] ?? ''
    if (part === '.' || part === '..') return 'dot_segment'
    if (isPlain) {
      segments.push(part)
      if (part === '') has_empty_segment = true
      continue
    }
    const decoded = decodeSegment(part)
    if (typeof decoded !== 'string') return decoded.fault
    segments.push(decoded)
    if (isEmptySegment(decoded)) has_empty_segment = true
  }
  return { segments, has_empty_segment, trailing_slash }
}

/** Some upstreams cut parameters off, which leaves nothing of `;x`. */
export const isEmptySegment = (segment: string): boolean =>
  segment === '' || segment.charCodeAt(0) === 0x3b

function decodeSegment(part: string): string | { readonly fault: PathFault } {
  if (!everyEscapeIsWhole(part)) return { fault: 'bad_percent_encoding' }
  let bytes = Buffer.from(part, 'latin1')
  for (let round = 0; round <= DECODE_ROUNDS_LIMIT; round++) {
    if (!isUtf8(bytes)) return { fault: 'invalid_utf8' }
    const text = bytes.toString('utf8')
    const fault = pieceFault(text)
    if (fault !== null) return { fault }
    const length = decodeInPlace(bytes)
    if (length === bytes.length) return text
    bytes = bytes.subarray(0, length)
  }
  return { fault: 'encoded_too_deep' }
}

/** `%u002e` and a lone `%` mean different things to different upstreams. */
function everyEscapeIsWhole(part: string): boolean {
  for (let i = part.indexOf('%'); i !== -1; i = part.indexOf('%', i + 3)) {
    if (hexDigit(part.charCodeAt(i + 1)) < 0 || hexDigit(part.charCodeAt(i + 2)) < 0) return false
  }
  return true
}

/** Looks at each piece between `/`, `\` and `;`: an upstream may separate there after it has decoded. */
function pieceFault(text: string): PathFault | null {
  let start = 0
  for (let i = 0; i <= text.length; i++) {
    const c = i === text.length ? 0x2f : text.charCodeAt(i)
    if (c === 0x5c) return 'backslash'
    if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return 'control_character'
    if (c !== 0x2f && c !== 0x3b) continue
    const length = i - start
    if (length === 1 && text[start] === '.') return 'dot_segment'
    if (length === 2 && text[start] === '.' && text[start + 1] === '.') return 'dot_segment'
    start = i + 1
  }
  return null
}

/** One round of percent-decoding; answers the new length, the old one when there was nothing to decode. */
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
