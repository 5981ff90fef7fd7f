import { decodeFormText, withPlainEscapes } from './decode-form-text.ts'
import {
  FIELD_NAME_LIMIT,
  mayNameField,
  noteField,
  type OverrideField,
  overrideField,
} from './override-field.ts'
import { type FoundOverrides, isFull } from './overrides.ts'

const PLUS = 0x2b
const SPACE = 0x20
const PERCENT = 0x25
const AMPERSAND = 0x26
const SEMICOLON = 0x3b

/** What a text may be split at once it is decoded: `&`, `;`, `?` or `=`, encoded (also twice, or as `%u0026`) or full-width. */
const HIDDEN_SEPARATOR = /%(?:25)*(?:26|3[bdf]|u|ef|cd)|[?\xcd\xef]/i
/** Rounds of decoding before the split, for upstreams that decode a text twice. */
const DECODED_SPLITS = 2

/**
 * Looks at the pairs of a query or of a form body. Some frameworks also split at semicolons, and some servers decode the whole
 * text before they split it: `a%26_method=DELETE`.
 * @param text one character per byte (latin1)
 */
export function findFormOverrides(text: string, found: FoundOverrides): void {
  if (!mayNameField(text)) return
  findPairs(text, found, false)
  for (let round = 0, before = text; round < DECODED_SPLITS; round++) {
    if (!HIDDEN_SEPARATOR.test(before)) break
    const decoded = withPlainSeparators(
      Buffer.from(decodeFormText(withPlainEscapes(before)), 'utf8').toString('latin1'),
    )
    if (decoded === before) break
    findPairs(decoded, found, true)
    before = decoded
  }
}

/** The full-width and small forms of `&`, `;` and `=`, the Greek question mark, and a second `?`, as bytes of UTF-8. */
const withPlainSeparators = (text: string): string =>
  text
    .replace(/\xef\xbc\x86|\xef\xb9\xa0|\?|\xef\xbc\x9f/g, '&')
    .replace(/\xef\xbc\x9b|\xef\xb9\x94|\xcd\xbe/g, ';')
    .replace(/\xef\xbc\x9d|\xef\xb9\xa6/g, '=')

/** `url`, or an escape. */
const NAME_LENGTH_MIN = 3

/** @param is_decoded whether the text was decoded before: a field that may be the API's own is then part of some value */
function findPairs(text: string, found: FoundOverrides, is_decoded: boolean): void {
  for (let start = 0; start < text.length && !isFull(found); ) {
    const end = pairEnd(text, start)
    if (end - start >= NAME_LENGTH_MIN)
      notePair(text, skipSpaces(text, start), end, found, is_decoded)
    start = end + 1
  }
}

/** Character by character, since a search for either separator could run to the end each time. */
function pairEnd(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === AMPERSAND || c === SEMICOLON) return i
  }
  return text.length
}

/** PHP drops spaces before a name, however many there are. */
function skipSpaces(text: string, start: number): number {
  let i = start
  for (;;) {
    const c = text.charCodeAt(i)
    if (c === PLUS || c === SPACE) i++
    else if (c === PERCENT && text.startsWith('20', i + 1)) i += 3
    else return i
  }
}

function notePair(
  text: string,
  start: number,
  end: number,
  found: FoundOverrides,
  is_decoded: boolean,
): void {
  const head = text.slice(start, Math.min(end, start + FIELD_NAME_LIMIT))
  const equals = head.indexOf('=')
  const written = equals === -1 ? head : head.slice(0, equals)
  if (!mayNameField(written)) return
  const { once, field } = readName(written)
  if (field === null || (is_decoded && field === 'maybe_method')) return
  const sign = text.indexOf('=', start)
  if (sign !== -1 && sign < end)
    noteField(found, field, decodeFormText(text.slice(sign + 1, end)), once)
}

interface ReadName {
  /** Decoded. */
  readonly once: string
  readonly field: OverrideField | null
}

/** Names recur, in calls and in texts that are made to be expensive. */
const NAMES_MAX = 256
const NAME_KEPT_MAX = 32
const names = new Map<string, ReadName>()

function readName(written: string): ReadName {
  const known = names.get(written)
  if (known !== undefined) return known
  const once = decodeFormText(withPlainEscapes(written))
  // Some upstreams decode twice.
  const field =
    overrideField(once) ?? (once.includes('%') ? overrideField(decodeFormText(once)) : null)
  const read = { once, field }
  if (written.length > NAME_KEPT_MAX) return read
  if (names.size >= NAMES_MAX) names.clear()
  names.set(written, read)
  return read
}
