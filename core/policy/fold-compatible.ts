/** Invisible characters, which some file systems and frameworks ignore in a name. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu

/**
 * The text after Unicode compatibility normalization (NFKC), without invisible characters. `．`, `․` and `﹒` become `.`, `‥`
 * becomes two of them, `／` becomes `/`, `＼` and `﹨` become `\`, `％` becomes `%`, `；` becomes `;`.
 */
export const foldCompatible = (text: string): string =>
  isAscii(text) ? text : text.normalize('NFKC').replace(IGNORED, '')

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}
