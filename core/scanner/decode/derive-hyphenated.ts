import type { WindowView } from '../text/text-scanner.ts'
import { findToken, hashWord, KEY_LENGTH, type TokenTable } from '../text/token-table.ts'
import { stretchesAround } from './derive-letters.ts'
import type { DerivedText } from './derived-text.ts'

/** Fewer hyphens close to one another are those of compounds. */
const HYPHENS = 3
/** One word of the patterns with a hyphen inside happens: `re-read`, `by-pass`. */
const LEAST_WORDS = 2
const SHORTEST_WORD = 5
/** Behind a comma or before one it is a list of words, as in a spelling lesson. */
const HYPHENATED = /[a-z]{1,16}(?:-[a-z]{1,16})+(?![a-z,-])/g

type Word = { readonly start: number; readonly end: number; readonly joined: string }

/** The hyphenated words that are words of the patterns without their hyphens. */
const wordsIn = (text: string, table: TokenTable): Word[] =>
  Array.from(text.matchAll(HYPHENATED)).flatMap(({ 0: written, index }) => {
    const joined = written.replaceAll('-', '')
    // Words are known by their first letters: a hyphen behind these says nothing.
    const isTelling =
      joined.length >= SHORTEST_WORD &&
      written.indexOf('-') < KEY_LENGTH &&
      findToken(table, hashWord(joined)) >= 0
    return isTelling ? [{ start: index, end: index + written.length, joined }] : []
  })

/** A stretch of the window in which the words are written without hyphens. */
const joinedText = (
  view: WindowView,
  words: readonly Word[],
  start: number,
  end: number,
): DerivedText => {
  const text = Buffer.allocUnsafe(end - start)
  const offsets = new Int32Array(end - start)
  const changed: number[] = []
  let n = 0
  let from = start
  const copy = (to: number, keepsHyphens: boolean): void => {
    for (let i = from; i < to; i += 1) {
      if (!keepsHyphens && view.text[i] === 0x2d) continue
      text[n] = view.text[i] as number
      offsets[n] = view.offsets[i] as number
      n += 1
    }
    from = to
  }
  for (const word of words) {
    if (word.start < from || word.end > end) continue
    copy(word.start, true)
    changed.push(n)
    copy(word.end, false)
  }
  copy(end, true)
  return {
    via: 'hyphenated',
    changed,
    text: text.subarray(0, n),
    offsets: offsets.subarray(0, n),
    start: 0,
    end: 0,
  }
}

/** The text around words of the patterns with hyphens inside, without these. */
export const deriveHyphenated = (view: WindowView, table: TokenTable): DerivedText[] => {
  if (view.signs.hyphens < HYPHENS) return []
  const words = wordsIn(view.text.toString('latin1', 0, view.end), table)
  const places = words.map(({ start }) => start)
  return stretchesAround(places, view.end, LEAST_WORDS).map(([start, end]) =>
    joinedText(view, words, start, end),
  )
}
