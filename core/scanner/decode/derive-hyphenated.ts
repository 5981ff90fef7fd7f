import type { WindowView } from '../text/text-scanner.ts'
import { findToken, hashWord, KEY_LENGTH, type TokenTable } from '../text/token-table.ts'
import { stretchesAround } from './derive-letters.ts'
import type { DerivedText } from './derived-text.ts'
import { withoutSpans } from './without-spans.ts'

/** Fewer hyphens close to one another are those of compounds. */
const HYPHENS = 3
/** One word of the patterns with a hyphen inside happens: `re-read`, `by-pass`. */
const LEAST_WORDS = 2
const SHORTEST_WORD = 5
/** Behind a comma or before one it is a list of words, as in a spelling lesson. */
const HYPHENATED = /[a-z]{1,16}(?:-[a-z]{1,16})+(?![a-z,-])/g

type Word = { readonly start: number; readonly end: number }

/** The hyphenated words that are words of the patterns without their hyphens. */
const wordsIn = (text: string, table: TokenTable): Word[] =>
  Array.from(text.matchAll(HYPHENATED)).flatMap(({ 0: written, index }) => {
    const joined = written.replaceAll('-', '')
    // Words are known by their first letters: a hyphen behind these says nothing.
    const isTelling =
      joined.length >= SHORTEST_WORD &&
      written.indexOf('-') < KEY_LENGTH &&
      findToken(table, hashWord(joined)) >= 0
    return isTelling ? [{ start: index, end: index + written.length }] : []
  })

/** The hyphens of the words that lie wholly between two positions. */
const hyphensOf = (text: string, words: readonly Word[], from: number, to: number): number[] =>
  words
    .filter(({ start, end }) => start >= from && end <= to)
    .flatMap(({ start, end }) =>
      Array.from(text.slice(start, end).matchAll(/-/g)).flatMap(({ index }) => [
        start + index,
        start + index + 1,
      ]),
    )

/** The text around words of the patterns with hyphens inside, without these. */
export const deriveHyphenated = (view: WindowView, table: TokenTable): DerivedText[] => {
  if (view.signs.hyphens < HYPHENS) return []
  const text = view.text.toString('latin1', 0, view.end)
  const words = wordsIn(text, table)
  const places = words.map(({ start }) => start)
  return stretchesAround(places, view.end, LEAST_WORDS).map(([from, to]) => ({
    via: 'hyphenated',
    ...withoutSpans(view, hyphensOf(text, words, from, to), from, to),
    start: 0,
    end: 0,
  }))
}
