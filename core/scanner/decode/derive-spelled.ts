import { SEEN } from '../text/disguise-signs.ts'
import type { WindowView } from '../text/text-scanner.ts'
import type { DerivedText } from './derived-text.ts'
import { withoutSpans } from './without-spans.ts'

/** Fewer characters cannot hide a sentence. */
const LEAST_CHARACTERS = 8

const RUN = /(?:(?:u\+|chr\(|char\()(?:0x)?[0-9a-f]{1,6}\)?[\s,;.+&|]*){8,}/g
const ONE = /(u\+|chr\(|char\()(0x)?([0-9a-f]{1,6})/g

const characterOf = (lead: string, isHex: boolean, digits: string): string => {
  const value = Number.parseInt(digits, lead === 'u+' || isHex ? 16 : 10)
  return value > 0 && value <= 0x10ffff ? String.fromCodePoint(value) : ' '
}

/** Characters that are spelled one by one: `U+0049 U+0067`, `chr(73)+chr(103)`. */
export const deriveSpelled = (view: WindowView): DerivedText[] => {
  const { signs } = view
  if ((signs.seen & SEEN.call) === 0 && signs.symbols.length < LEAST_CHARACTERS) return []
  const window = view.text.subarray(0, view.end)
  const isUnicode = signs.symbols.length >= LEAST_CHARACTERS && window.includes('u+')
  if (!isUnicode && !window.includes('chr(') && !window.includes('char(')) return []
  return Array.from(window.toString('latin1').matchAll(RUN), ({ 0: run, index }) => ({
    via: 'numbers' as const,
    text: Buffer.from(
      Array.from(run.matchAll(ONE), ([, lead = '', hex, digits = '']) =>
        characterOf(lead, hex !== undefined, digits),
      ).join(''),
    ),
    start: view.offsets[index] ?? 0,
    end: (view.offsets[index + run.length - 1] ?? 0) + 1,
  }))
}

/** Bytes that stand in the text as variation selectors, which have no glyph. */
export const deriveSelectors = (view: WindowView): DerivedText | null => {
  const { selectors } = view.signs
  if (selectors.length < 2 * LEAST_CHARACTERS) return null
  const text = Buffer.from(selectors.filter((_, i) => i % 2 === 0))
  return {
    via: 'variation_selectors',
    text,
    start: selectors[1] ?? 0,
    end: (selectors.at(-1) ?? 0) + 1,
  }
}

/** The window as people see it, without tag characters: these carry a text of their own, or stand inside words to break them. */
export const deriveUntagged = (view: WindowView): DerivedText | null => {
  const { tags } = view.signs
  if (tags.length === 0) return null
  const spans = tags.flatMap((at) => [at, at + 1])
  return {
    via: 'tag_characters',
    ...withoutSpans(view, spans, 0, view.end),
    start: 0,
    end: 0,
  }
}
