/**
 * Walks JSON in its bytes, in one pass and without building values, for answers that must name byte positions.
 * Everything is validated as RFC 8259 has it; each function answers where the thing ends, or -1 when it is not
 * well-formed or nested beyond `JSON_DEPTH_LIMIT`.
 */

/** Far above what any API sends; bounds the memory a hostile body can claim to this many bytes. */
const JSON_DEPTH_LIMIT = 100_000

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export interface JsonMember {
  /** Positions of the key, with its quotes. */
  readonly key_start: number
  readonly key_end: number
  readonly value_start: number
  /** Position of the comma before the member, -1 for the first one. */
  readonly comma_before: number
}

/** Where the text begins: after white space and a byte order mark, which belongs to no grammar but is sent. */
export function skipStart(body: Buffer): number {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  return skipSpace(body, hasMark ? 3 : 0)
}

export function skipSpace(body: Buffer, start: number): number {
  let i = start
  for (; i < body.length; i++) {
    const c = body[i]
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break
  }
  return i
}

/** @param onMember answers where the member's value ends; -1 stops the walk. */
export function walkMembers(
  body: Buffer,
  start: number,
  onMember: (member: JsonMember) => number,
): number {
  let comma_before = -1
  let i = skipSpace(body, start + 1)
  if (body[i] === CLOSE_OBJECT) return i + 1
  for (;;) {
    const key_end = skipString(body, i)
    const value_start = key_end < 0 ? -1 : skipColon(body, key_end)
    if (value_start < 0) return -1
    const end = onMember({ key_start: i, key_end, value_start, comma_before })
    if (end < 0) return -1
    i = skipSpace(body, end)
    if (body[i] === CLOSE_OBJECT) return i + 1
    if (body[i] !== COMMA) return -1
    comma_before = i
    i = skipSpace(body, i + 1)
  }
}

/** @param onElement answers where the element ends; -1 stops the walk. */
export function walkElements(
  body: Buffer,
  start: number,
  onElement: (elementStart: number) => number,
): number {
  let i = skipSpace(body, start + 1)
  if (body[i] === CLOSE_ARRAY) return i + 1
  for (;;) {
    const end = onElement(i)
    if (end < 0) return -1
    i = skipSpace(body, end)
    if (body[i] === CLOSE_ARRAY) return i + 1
    if (body[i] !== COMMA) return -1
    i = skipSpace(body, i + 1)
  }
}

/** Skips a whole value of any kind; nesting is kept in bytes, not on the call stack. */
export function skipValue(body: Buffer, start: number): number {
  let open = new Uint8Array(32)
  let depth = 0
  let i = start
  for (;;) {
    const c = body[i]
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      const close = c + 2
      const inside = skipSpace(body, i + 1)
      if (body[inside] === close) {
        i = inside + 1
      } else {
        if (depth === open.length) {
          if (depth >= JSON_DEPTH_LIMIT) return -1
          const wider = new Uint8Array(depth * 2)
          wider.set(open)
          open = wider
        }
        open[depth++] = close
        i = c === OPEN_OBJECT ? skipKey(body, inside) : inside
        if (i < 0) return -1
        continue
      }
    } else {
      i = skipScalar(body, i)
      if (i < 0) return -1
    }
    for (;;) {
      if (depth === 0) return i
      i = skipSpace(body, i)
      if (body[i] === open[depth - 1]) {
        depth--
        i++
        continue
      }
      if (body[i] !== COMMA) return -1
      i = skipSpace(body, i + 1)
      if (open[depth - 1] === CLOSE_OBJECT) i = skipKey(body, i)
      if (i < 0) return -1
      break
    }
  }
}

/** The text of the string between two positions, quotes included. */
export const readString = (body: Buffer, start: number, end: number): string => {
  const text = body.toString('utf8', start, end)
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** Key and colon; answers where the value begins. */
function skipKey(body: Buffer, start: number): number {
  const end = skipString(body, start)
  return end < 0 ? -1 : skipColon(body, end)
}

function skipColon(body: Buffer, start: number): number {
  const i = skipSpace(body, start)
  return body[i] === COLON ? skipSpace(body, i + 1) : -1
}

function skipScalar(body: Buffer, start: number): number {
  const c = body[start]
  if (c === QUOTE) return skipString(body, start)
  if (c === 0x74) return skipWord(body, start, 'true')
  if (c === 0x66) return skipWord(body, start, 'false')
  if (c === 0x6e) return skipWord(body, start, 'null')
  return skipNumber(body, start)
}

function skipString(body: Buffer, start: number): number {
  if (body[start] !== QUOTE) return -1
  for (let i = start + 1; i < body.length; i++) {
    const c = body[i] ?? 0
    if (c === QUOTE) return i + 1
    if (c < 0x20) return -1
    if (c !== BACKSLASH) continue
    i++
    if (body[i] === 0x75) {
      if (!isHex(body[i + 1]) || !isHex(body[i + 2]) || !isHex(body[i + 3]) || !isHex(body[i + 4]))
        return -1
      i += 4
    } else if (!isShortEscape(body[i])) {
      return -1
    }
  }
  return -1
}

/** `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`. */
const isShortEscape = (c: number | undefined): boolean =>
  c === QUOTE ||
  c === BACKSLASH ||
  c === 0x2f ||
  c === 0x62 ||
  c === 0x66 ||
  c === 0x6e ||
  c === 0x72 ||
  c === 0x74

const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 0x30 && c <= 0x39

const isHex = (c: number | undefined): boolean =>
  c !== undefined &&
  ((c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66))

function skipWord(body: Buffer, start: number, word: string): number {
  for (let i = 0; i < word.length; i++) if (body[start + i] !== word.charCodeAt(i)) return -1
  return start + word.length
}

function skipNumber(body: Buffer, start: number): number {
  let i = body[start] === 0x2d ? start + 1 : start
  if (body[i] === 0x30) i++
  else i = skipDigits(body, i)
  if (i >= 0 && body[i] === 0x2e) i = skipDigits(body, i + 1)
  if (i < 0 || (body[i] !== 0x65 && body[i] !== 0x45)) return i
  const isSigned = body[i + 1] === 0x2b || body[i + 1] === 0x2d
  return skipDigits(body, i + (isSigned ? 2 : 1))
}

/** At least one. */
function skipDigits(body: Buffer, start: number): number {
  let i = start
  while (isDigit(body[i])) i++
  return i === start ? -1 : i
}
