import fc from 'fast-check'

const SURROGATES_FROM = 0xd800
const SURROGATES = 0x800
const CODE_POINTS = 0x110000

/**
 * Any character of Unicode, as the unit of a text. Says the same as fast-check's unit `binary`, which builds a table of
 * all characters first (half a second).
 */
export const anyCharacter = fc
  .nat({ max: CODE_POINTS - SURROGATES - 1 })
  .map(
    (index) => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES),
    indexOf,
  )

/** How fast-check finds the index of a character that it gives as an example. */
function indexOf(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined
  const isOne = code !== undefined && String.fromCodePoint(code) === text
  const isSurrogate =
    code !== undefined && code >= SURROGATES_FROM && code < SURROGATES_FROM + SURROGATES
  if (!isOne || isSurrogate) throw new Error('not one character')
  return code < SURROGATES_FROM ? code : code - SURROGATES
}
