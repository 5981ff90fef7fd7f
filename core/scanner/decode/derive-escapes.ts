import type { WindowView } from '../text/text-scanner.ts'
import { stretchesAround } from './derive-letters.ts'
import type { DerivedText } from './derived-text.ts'

/** What may begin an escape. */
const ESCAPE = /%u?[0-9a-f]{2}|&[#a-z]|\\[^ \n]/g

/** What an escape stood for may be an escape again. */
export const deriveEscapes = (view: WindowView): DerivedText[] => {
  const escapes = view.text.toString('latin1', 0, view.end).matchAll(ESCAPE)
  const places = Array.from(escapes, ({ index }) => index)
  return stretchesAround(places, view.end, 1).map(([start, end]) => ({
    via: 'nested_escapes',
    text: Buffer.from(view.text.subarray(start, end)),
    offsets: view.offsets.slice(start, end),
    start: 0,
    end: 0,
  }))
}
