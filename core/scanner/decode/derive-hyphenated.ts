import type { WindowView } from '../text/text-scanner.ts'
import {
  findToken,
  HASH_PRIME,
  HASH_SEED,
  hashWord,
  KEY_LENGTH,
  type TokenTable,
} from '../text/token-table.ts'
import { stretchesAround } from './derive-letters.ts'
import type { DerivedText } from './derived-text.ts'
import { withoutSpans } from './without-spans.ts'

/** Fewer hyphens close to one another are those of compounds. */
const HYPHENS = 3
/** One word of the patterns with a hyphen inside happens: `re-read`, `by-pass`. */
const LEAST_WORDS = 2
const SHORTEST_WORD = 5
const HYPHEN = 0x2d
/** Behind a comma or before one it is a list of words, as in a spelling lesson. */
const HYPHENATED = /[a-z]{1,16}(?:-[a-z]{1,16})+(?![a-z,-])/g

/** Parts have at most as many letters. */
const LONGEST_SURE = 16

type Word = { readonly start: number; readonly end: number }

const isTelling = (written: string, table: TokenTable): boolean => {
  const joined = written.replaceAll('-', '')
  // Words are known by their first letters: a hyphen behind these says nothing.
  return (
    joined.length >= SHORTEST_WORD &&
    written.indexOf('-') < KEY_LENGTH &&
    findToken(table, hashWord(joined)) >= 0
  )
}

const isPart = (byte: number | undefined): boolean =>
  byte === HYPHEN || (byte !== undefined && byte >= 0x61 && byte <= 0x7a)

/** Whether letters with single hyphens inside can be such a word: nearly no compound can, and the expression costs more. */
const mayTell = (text: Buffer, start: number, end: number, table: TokenTable): boolean => {
  let hash = HASH_SEED
  let letters = 0
  let last = HYPHEN
  for (let at = start; at < end; at += 1) {
    const byte = text[at] as number
    if (byte === HYPHEN && last === HYPHEN) return true
    last = byte
    if (byte === HYPHEN) continue
    if (letters < KEY_LENGTH) hash = Math.imul(hash ^ byte, HASH_PRIME)
    letters += 1
  }
  // A part that is too long begins a word behind its first letters.
  return last === HYPHEN || letters > LONGEST_SURE || hash === 0 || findToken(table, hash) >= 0
}

/** The hyphenated words that are words of the patterns without their hyphens. Looks only at runs of letters that have hyphens. */
const wordsIn = (text: Buffer, table: TokenTable): Word[] => {
  const words: Word[] = []
  for (let at = text.indexOf(HYPHEN); at >= 0; ) {
    let start = at
    while (start > 0 && isPart(text[start - 1])) start -= 1
    let end = at
    while (isPart(text[end])) end += 1
    at = text.indexOf(HYPHEN, end)
    if (text[end] !== 0x2c && !mayTell(text, start, end, table)) continue
    for (const { 0: written, index } of text
      .toString('latin1', start, end + 1)
      .matchAll(HYPHENATED))
      if (isTelling(written, table))
        words.push({ start: start + index, end: start + index + written.length })
  }
  return words
}

/** The hyphens of the words that lie wholly between two positions. */
const hyphensOf = (text: Buffer, words: readonly Word[], from: number, to: number): number[] =>
  words
    .filter(({ start, end }) => start >= from && end <= to)
    .flatMap(({ start, end }) =>
      Array.from(text.toString('latin1', start, end).matchAll(/-/g)).flatMap(({ index }) => [
        start + index,
        start + index + 1,
      ]),
    )

/** The text around words of the patterns with hyphens inside, without these. */
export const deriveHyphenated = (view: WindowView, table: TokenTable): DerivedText[] => {
  if (view.signs.hyphens < HYPHENS) return []
  const text = view.text.subarray(0, view.end)
  const words = wordsIn(text, table)
  const places = words.map(({ start }) => start)
  return stretchesAround(places, view.end, LEAST_WORDS).map(([from, to]) => ({
    via: 'hyphenated',
    ...withoutSpans(view, hyphensOf(text, words, from, to), from, to),
    start: 0,
    end: 0,
  }))
}
