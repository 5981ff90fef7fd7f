import { normalizeText } from '../bounded/normalize-text.ts'

/** Invisible characters, which some file systems and frameworks ignore in a name. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Characters that NFKC keeps and that a conversion to a code page of Windows ("best fit") or to ASCII writes as a separator:
 * `⁄`, `∕` and `⧸` as `/`, `∖`, `⧵` and `⧹` as `\\`, `٪` as `%`. They are replaced before the normalization, because that writes
 * `½` with a fraction slash, and `½` is no path.
 */
const LOOKALIKE = /[\u2044\u2215\u29f8\u2216\u29f5\u29f9\u066a]/g
const LOOKED_AT: Readonly<Record<string, string>> = {
  '\u2044': '/',
  '\u2215': '/',
  '\u29f8': '/',
  '\u2216': '\\',
  '\u29f5': '\\',
  '\u29f9': '\\',
  '\u066a': '%',
}

/** Each check of a path folds its segments again, of which it has at most so many. */
const RECENT_MAX = 512
const RECENT_CHARACTERS_MAX = 1 << 18
const recent = new Map<string, string>()
let recent_characters = 0

/**
 * The text after Unicode compatibility normalization (NFKC), without invisible characters. `．`, `․` and `﹒` become `.`, `‥`
 * becomes two of them, `／` becomes `/`, `＼` and `﹨` become `\`, `％` becomes `%`, `；` becomes `;`, and the characters above what they look like.
 */
export function foldCompatible(text: string): string {
  if (isAscii(text)) return text
  const known = recent.get(text)
  if (known !== undefined) return known
  const plain = text.replace(LOOKALIKE, (one) => LOOKED_AT[one] ?? one)
  const folded = normalizeText(plain, 'NFKC').replace(IGNORED, '')
  recent_characters += text.length
  if (recent_characters > RECENT_CHARACTERS_MAX || recent.size >= RECENT_MAX) {
    recent.clear()
    recent_characters = text.length
  }
  recent.set(text, folded)
  return folded
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}
