import type { WindowView } from '../text/text-scanner.ts'
import { KEY_LENGTH } from '../text/token-table.ts'
import type { DerivedText } from './derived-text.ts'

/** The words that most attacks cannot do without. A model reads them with a wrong letter too. */
const OFTEN_MISSPELLED = [
  'ignore',
  'disregard',
  'override',
  'bypass',
  'previous',
  'instructions',
  'instruction',
  'system',
  'prompt',
  'reveal',
  'password',
  'developer',
  'restrictions',
  'guidelines',
]
const VOWELS = 'aeiou'

/** One letter left out, doubled, or exchanged with the next; one vowel written for another. */
const misspellings = (word: string): string[] =>
  Array.from(word).flatMap((letter, i) => [
    // Without its first or last letter a word is often another one.
    ...(i > 0 && i < word.length - 1 ? [word.slice(0, i) + word.slice(i + 1)] : []),
    word.slice(0, i) + letter + word.slice(i),
    word.slice(0, i) + (word[i + 1] ?? '') + letter + word.slice(i + 2),
    ...Array.from(VOWELS.includes(letter) ? VOWELS : '').map(
      (vowel) => word.slice(0, i) + vowel + word.slice(i + 1),
    ),
  ])

const CORRECT: ReadonlyMap<string, string> = new Map(
  OFTEN_MISSPELLED.flatMap((word) =>
    misspellings(word)
      .filter((written) => !OFTEN_MISSPELLED.includes(written))
      .map((written): [string, string] => [written, word]),
  ),
)

/** Words are looked up by their first letters, so a misspelling further on is that of a known word. */
const lookedUpBy = (word: string): string => word.slice(0, KEY_LENGTH)

/** The misspellings that are looked for. */
export const MISSPELLED_WORDS: readonly string[] = [...CORRECT.keys()].filter((written) =>
  OFTEN_MISSPELLED.every((word) => lookedUpBy(word) !== lookedUpBy(written)),
)

/** A text in lower case with the misspelled words corrected. */
export const correctTypos = (text: string): string =>
  text.replace(/[a-z]+/g, (word) => CORRECT.get(word) ?? word)

/** Corrects the misspelled words of a stretch of the window. */
export const deriveTypos = (view: WindowView, start: number, end: number): DerivedText => {
  const bytes: number[] = []
  const offsets: number[] = []
  const changed: number[] = []
  const text = view.text.toString('latin1', start, end)
  for (const { 0: part, index } of text.matchAll(/[a-z]+|[^a-z]+/g)) {
    const word = CORRECT.get(part) ?? part
    if (word !== part) changed.push(bytes.length)
    for (let i = 0; i < word.length; i += 1) {
      bytes.push(word.charCodeAt(i))
      offsets.push(view.offsets[start + index + Math.min(i, part.length - 1)] ?? 0)
    }
  }
  return {
    via: 'typos',
    changed,
    text: Buffer.from(bytes),
    offsets: Int32Array.from(offsets),
    start: offsets[0] ?? 0,
    end: (offsets.at(-1) ?? 0) + 1,
  }
}
