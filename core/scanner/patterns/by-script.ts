import { anyOf } from './any-of.ts'

/** Of more languages in Latin script than this, RE2 does not hold the automaton of one expression in its memory. */
const LATIN_AT_ONCE = 6

const SCRIPTS = [
  /[\p{Script=Cyrillic}]/u,
  /[\p{Script=Arabic}]/u,
  /[\p{Script=Devanagari}]/u,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
  /[\p{Script=Hangul}]/u,
]

/**
 * One expression of many languages, and the same in parts of a script each, which are searched for one by one: their automata
 * stay small in a text of one script, and in one of all scripts.
 */
export function byScript(...languages: readonly string[]): {
  readonly expression: string
  readonly alternatives: readonly string[]
} {
  const parts = new Map<string, string[]>()
  let latin = 0
  for (const one of languages) {
    const script = SCRIPTS.findIndex((letters) => letters.test(one))
    const part = script === -1 ? `latin ${Math.floor(latin++ / LATIN_AT_ONCE)}` : String(script)
    parts.set(part, [...(parts.get(part) ?? []), one])
  }
  const alternatives = Array.from(parts.values(), (part) => anyOf(...part))
  return { expression: anyOf(...alternatives), alternatives }
}
