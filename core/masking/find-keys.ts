import RE2 from 're2'
import { findAll } from './find-all.ts'
import type { HiddenRange } from './hidden-range.ts'
import { KEY_SHAPES, type KeyShape } from './key-shapes.ts'

/**
 * Finds candidates for all shapes in one pass. Repetition counts are left out, because with them the automaton of all shapes is
 * so large that RE2 falls back to a search that is seventeen times slower (513 instead of 30 ns per character).
 */
const SEARCH = new RE2(KEY_SHAPES.map((shape) => expressionOf(shape, withoutCounts)).join('|'), 'g')
/** Compiled by need: most texts hold no key, and every thread and command imports this. */
const exact: RE2[] = []
const exactOf = (i: number, shape: KeyShape): RE2 =>
  (exact[i] ??= new RE2(`^${expressionOf(shape, String)}`))

/** With one group for the masked part. */
function expressionOf({ shown, hidden }: KeyShape, change: (expression: string) => string): string {
  return `(?:(?:${change(shown)})(${change(hidden)}))`
}

function withoutCounts(expression: string): string {
  return expression.replace(/\{(\d+),?\d*\}/g, (_, least: string) => (least === '0' ? '*' : '+'))
}

/** The positions of keys and tokens in a text. Linear in its length. */
export function findKeys(text: string): HiddenRange[] {
  const ranges: HiddenRange[] = []
  for (const { groups, start, end } of findAll(SEARCH, text)) {
    const i = groups.findIndex((group) => group !== undefined)
    const shape = KEY_SHAPES[i]
    const key = shape === undefined ? null : exactOf(i, shape).exec(text.slice(start, end))
    const hidden = key?.[1] ?? ''
    if (key === null || shape?.isSecret?.(hidden) === false) continue
    const exact_end = start + key[0].length
    ranges.push({
      start: exact_end - hidden.length,
      // The character that ends the user part of a URL is not part of the secret.
      end: hidden.endsWith('@') ? exact_end - 1 : exact_end,
    })
  }
  return ranges
}
