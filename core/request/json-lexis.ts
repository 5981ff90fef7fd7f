/**
 * `strict` is RFC 8259, which all readers accept and read in the same way. `lenient` also accepts what some programs write and
 * many readers accept: several texts in a row, a byte-order mark, `NaN` and `Infinity`, numbers in any form, and in strings
 * anything except the closing quote. Neither accepts comments, single quotes, bare names or trailing commas.
 */
export type JsonGrammar = 'strict' | 'lenient'

export const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
const WORDS: readonly string[] = ['true', 'false', 'null', 'NaN', 'Infinity', '-Infinity']
const LONGEST_WORD = 9

/** Characters of a string that need no handling: all except quotes, backslashes and control characters. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, c) =>
  c < 0x20 || c === QUOTE || c === BACKSLASH ? 0 : 1,
)

const isSpace = (c: number | undefined): boolean =>
  c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09

export function skipSpace(bytes: Buffer, start: number, end = bytes.length): number {
  let i = start
  while (i < end && isSpace(bytes[i])) i++
  return i
}

/** Where a text begins: after white space and a byte-order mark, which is in no grammar but is sent. */
export function skipStart(bytes: Buffer, start = 0, end = bytes.length): number {
  const hasMark = bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf
  return skipSpace(bytes, hasMark ? start + 3 : start, end)
}

/** Each of these returns where the token that begins at `start` ends, or -1 if it is not well-formed. */
export function skipString(bytes: Buffer, start: number, end: number): number {
  if (bytes[start] !== QUOTE) return -1
  const isPlain = PLAIN
  for (let i = start + 1; i < end; i++) {
    const c = bytes[i] as number
    if (isPlain[c] === 1) continue
    if (c === QUOTE) return i + 1
    if (c < 0x20) return -1
    i++
    if (bytes[i] === 0x75) {
      const isUnit =
        isHex(bytes[i + 1]) && isHex(bytes[i + 2]) && isHex(bytes[i + 3]) && isHex(bytes[i + 4])
      if (!isUnit) return -1
      i += 4
    } else if (!isShortEscape(bytes[i])) {
      return -1
    }
  }
  return -1
}

export function skipLooseString(bytes: Buffer, start: number, end: number): number {
  for (let i = start + 1; i < end; i++) {
    const c = bytes[i]
    if (c === QUOTE) return i + 1
    if (c === BACKSLASH) i++
  }
  return -1
}

/** A number or a word. */
export function skipScalar(bytes: Buffer, start: number, end: number): number {
  const c = bytes[start]
  if (c === 0x74) return skipWord(bytes, start, 'true', end)
  if (c === 0x66) return skipWord(bytes, start, 'false', end)
  if (c === 0x6e) return skipWord(bytes, start, 'null', end)
  return skipNumber(bytes, start, end)
}

export function skipLooseScalar(bytes: Buffer, start: number, end: number): number {
  let i = start
  let hasDigit = false
  let hasLetter = false
  for (; i < end && isLoose(bytes[i]); i++) {
    hasDigit ||= isDigit(bytes[i])
    hasLetter ||= isLetter(bytes[i]) && !isExponent(bytes[i])
  }
  const isNumber = hasDigit && !hasLetter && (isDigit(bytes[start]) || bytes[start] === MINUS)
  if (isNumber) return i
  return i - start <= LONGEST_WORD && WORDS.includes(bytes.toString('latin1', start, i)) ? i : -1
}

/** The text of the string between two positions, quotes included. */
export const readString = (bytes: Buffer, start: number, end: number): string => {
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
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

const isLetter = (c: number | undefined): boolean =>
  c !== undefined && (c | 0x20) >= 0x61 && (c | 0x20) <= 0x7a

const isExponent = (c: number | undefined): boolean => c === 0x65 || c === 0x45

const isLoose = (c: number | undefined): boolean =>
  isDigit(c) || isLetter(c) || c === MINUS || c === 0x2b || c === 0x2e

function skipWord(bytes: Buffer, start: number, word: string, end: number): number {
  if (start + word.length > end) return -1
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word.charCodeAt(i)) return -1
  return start + word.length
}

function skipNumber(bytes: Buffer, start: number, end: number): number {
  let i = bytes[start] === MINUS ? start + 1 : start
  if (bytes[i] === 0x30) i++
  else i = skipDigits(bytes, i, end)
  if (i >= 0 && i < end && bytes[i] === 0x2e) i = skipDigits(bytes, i + 1, end)
  if (i < 0 || i >= end || !isExponent(bytes[i])) return i > end ? -1 : i
  const isSigned = bytes[i + 1] === 0x2b || bytes[i + 1] === MINUS
  return skipDigits(bytes, i + (isSigned ? 2 : 1), end)
}

/** At least one. */
function skipDigits(bytes: Buffer, start: number, end: number): number {
  let i = start
  while (i < end && isDigit(bytes[i])) i++
  return i === start ? -1 : i
}
