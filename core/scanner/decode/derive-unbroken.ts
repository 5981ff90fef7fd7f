import { SEEN } from '../text/disguise-signs.ts'
import type { WindowView } from '../text/text-scanner.ts'
import {
  findToken,
  HASH_PRIME,
  HASH_SEED,
  KEY_LENGTH,
  type TokenTable,
} from '../text/token-table.ts'
import { stretchesAround } from './derive-letters.ts'
import type { DerivedText } from './derived-text.ts'
import { withoutSpans } from './without-spans.ts'

/** Longer tags and comments than this do not stand inside a word. */
const LONGEST_BREAK_BYTES = 96
const LONGEST_WORD_BYTES = 24

/** Bytes that a break begins with; the blank stands for the escape character of a raw ANSI code. */
const LEAD = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x3c ||
  byte === 0x5d ||
  byte === 0x2d ||
  byte === 0x3d ||
  byte === 0xc2 ||
  byte === 0x20 ||
  byte === 0x7f ||
  (byte < 0x20 && byte !== 0x0a)
    ? 1
    : 0,
)

/** What a reader does not see inside a word: tags, comments, CDATA borders, ANSI codes, control characters, hyphenation. */
const BREAK =
  // oxlint-disable-next-line no-control-regex -- control characters hide words.
  /(?:<!--[^>]{0,80}-->|<!\[cdata\[|\]\]>|<\/?[a-z][^<>]{0,80}>|[\x1b ]\[[0-9;]{0,16}m|\xc2[\x80-\x9f]|[\x00-\x09\x0b-\x1f\x7f]|[-=]\n)+/y

const isLetter = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a

/** A quick look: nearly no window has any of these. */
const mayHaveBreaks = ({ source, text, offsets, end, signs }: WindowView): boolean => {
  const { controls, seen } = signs
  if (controls > 0) return true
  if ((seen & (SEEN.less_than | SEEN.hyphenation | SEEN.escape_character)) === 0) return false
  const window = text.subarray(0, end)
  return window.includes(0x3c) || mayHaveOthers(window, { source, offsets, end })
}

/** Breaks that do not begin with `<`. */
const mayHaveOthers = (
  window: Buffer,
  { source, offsets, end }: Pick<WindowView, 'source' | 'offsets' | 'end'>,
): boolean =>
  window.includes('-\n') ||
  window.includes('=\n') ||
  window.includes(']]>') ||
  // The line end after the last piece has the offset of its beginning.
  (end > 1 && source.subarray(offsets[0], offsets[end - 2]).includes(0x1b))

/** Whether `BREAK` may match at a byte of `LEAD`: the second byte says so for nearly all blanks and hyphens, and costs little. */
const mayBreak = (text: Buffer, at: number): boolean => {
  const byte = text[at] as number
  const next = text[at + 1] ?? 0
  if (byte === 0x20) return next === 0x5b
  if (byte === 0x2d || byte === 0x3d) return next === 0x0a
  if (byte === 0x5d) return next === 0x5d
  return true
}

/** The breaks between two letters of the window: start, end. @param areTags whether all begin with `<` */
const breaksIn = (text: Buffer, areTags: boolean): number[] => {
  const breaks: number[] = []
  const latin = text.toString('latin1')
  // Imported names and those of the module are looked up at every use, which a loop over a window feels.
  const lead = LEAD
  const { length } = text
  for (let i = 1; i < length; i += 1) {
    if (areTags) {
      i = text.indexOf(0x3c, i)
      if (i < 0) break
    } else if (lead[text[i] as number] === 0) continue
    if (!isLetter(text[i - 1] as number) || !mayBreak(text, i)) continue
    BREAK.lastIndex = i
    const match = BREAK.exec(latin)
    if (match === null || match[0].length > LONGEST_BREAK_BYTES) continue
    const end = i + match[0].length
    if (isLetter(text[end] ?? 0)) breaks.push(i, end)
    i = end - 1
  }
  return breaks
}

/** Shorter words come about by chance. */
const SHORTEST_WORD_BYTES = 5

/** Whether the letters around a break, and around those that follow in the word, are together a word of the patterns. */
const isTelling = (
  text: Buffer,
  breaks: readonly number[],
  first: number,
  table: TokenTable,
): boolean => {
  const from = breaks[first] as number
  let start = from
  while (start > 0 && from - start < LONGEST_WORD_BYTES && isLetter(text[start - 1] as number))
    start -= 1
  let hash = HASH_SEED
  let length = 0
  let next = first
  for (let i = start; length < LONGEST_WORD_BYTES; i += 1) {
    while (i === breaks[next]) {
      i = breaks[next + 1] as number
      next += 2
    }
    const byte = text[i] ?? 0
    if (!isLetter(byte)) break
    if (length < KEY_LENGTH) hash = Math.imul(hash ^ byte, HASH_PRIME)
    length += 1
  }
  return length >= SHORTEST_WORD_BYTES && findToken(table, hash) >= 0
}

/** The window around broken words of the patterns, without what stands inside its words. */
export const deriveUnbroken = (view: WindowView, table: TokenTable): DerivedText[] => {
  if (!mayHaveBreaks(view)) return []
  const window = view.text.subarray(0, view.end)
  // What was counted before the window moved may still stand in it.
  const areTags = view.start === 0 && view.signs.controls === 0 && !mayHaveOthers(window, view)
  const breaks = breaksIn(window, areTags)
  const places: number[] = []
  for (let b = 0; b < breaks.length; b += 2) {
    if (isTelling(window, breaks, b, table)) places.push(breaks[b] as number)
  }
  return stretchesAround(places, view.end, 1).map(([from, to]) => {
    const { text, offsets } = withoutSpans(view, breaks, from, to)
    return { via: 'broken_words', text, offsets, start: 0, end: 0 }
  })
}
