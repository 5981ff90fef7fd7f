import type { HiddenRange } from './hidden-range.ts'

const HEADER = /\b(?:set-)?cookie2?[\\]{0,4}["']?[ \t]{0,4}[:=][ \t]{0,4}[\\]{0,4}["']?/gi
/** Up to the end of the line or to the closing quote; a value may contain quotes. */
const LINE = /(?:=\\{0,4}"[^"\r\n\\]{0,4096}\\{0,4}"|\\(?![nr"])|[^\r\n"'<>\\])*/y
/** More pairs of one line are masked together, whatever they are. */
const PAIRS_MAX = 200
/** Attributes of Set-Cookie, and values as short as a language or a setting. */
const ATTRIBUTE =
  /^(?:path|domain|expires|max-age|samesite|priority|version|httponly|secure|partitioned)$/i
const SHORT = 8

/** The positions of cookie values after the name of their header. Sentences are not cookies. */
export function findCookieValues(text: string): HiddenRange[] {
  const ranges: HiddenRange[] = []
  let end = 0
  for (const { index, 0: found } of text.matchAll(HEADER)) {
    // Each line is read once, whatever it contains.
    if (index < end) continue
    const start = index + found.length
    LINE.lastIndex = start
    end = LINE.test(text) ? LINE.lastIndex : start
    ranges.push(...valuesOf(text.slice(start, end), start))
  }
  return ranges
}

function valuesOf(line: string, offset: number): HiddenRange[] {
  const ranges: HiddenRange[] = []
  let start = offset
  const pairs = line.split(';')
  for (const pair of pairs.slice(0, PAIRS_MAX)) {
    const equals = pair.indexOf('=')
    const name = (equals < 0 ? pair : pair.slice(0, equals)).trim()
    const from = start + equals + 1
    const length = ATTRIBUTE.test(name) ? 0 : secretLength(pair.slice(equals + 1))
    if (length > 0) ranges.push({ start: from, end: from + length })
    start += pair.length + 1
  }
  if (pairs.length > PAIRS_MAX) ranges.push({ start, end: offset + line.length })
  return ranges
}

/** A value up to the first blank, up to the first sign that may be one, and whether more follows. */
const WORD = /^(\s*)((?:(?!%20)[^\s+])*)((?:(?!%20)\S)*)(.*)$/s

/**
 * How much is masked of what follows a name: a whole value, or the first word of a text that looks like a value, since a line
 * may go on after it. In a form, `+` is a blank; in Base64 it is not.
 */
function secretLength(given: string): number {
  const [, before = '', word = '', more = '', text = ''] = WORD.exec(given) ?? []
  if (more === '' && /^(?:\s|%20)*$/.test(text))
    return word.length < SHORT ? 0 : before.length + word.length
  const secret = isMixed(word + more) ? word + more : word
  return secret.length < SHORT || !hasLettersAndDigits(secret) ? 0 : before.length + secret.length
}

const hasLettersAndDigits = (text: string): boolean => /\d/.test(text) && /\p{L}/u.test(text)
/** As Base64 is and words that are joined are not. */
const isMixed = (text: string): boolean =>
  /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text)
