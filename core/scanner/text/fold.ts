import { normalizeText } from '../../bounded/normalize-text.ts'

/**
 * One canonical alphabet for text and patterns: lower case, no accents, look-alike letters as the ASCII letter they imitate.
 * Russian or Greek text folds to a mixture that is unreadable, but the words of the patterns fold to the same mixture and still
 * match.
 */

/** The kind of a folded character for the tokeniser. */
export const KIND = {
  dropped: 0,
  word: 1,
  ideograph: 2,
  punctuation: 3,
  space: 4,
  newline: 5,
  expanded: 6,
} as const

/** Bits 0–20 hold the folded code point (or the index of an expansion), 21–23 the kind, 24 "invisible". */
export const KIND_SHIFT = 21
export const CODE_POINT_MASK = 0x1fffff
export const INVISIBLE = 1 << 24

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: 'аαɑᴀɐ∂∀Ꭺ⍺',
  b: 'ьвᏏʙβЬƀ฿ᖯ',
  c: 'сϲϹᴄƈ¢ⅽᏟↄ©',
  d: 'ԁᴅɗđᏧⅾÐð',
  e: 'еεєɛᴇǝҽ€ᎬℯЄ',
  f: 'ƒꜰϝʄғ',
  g: 'ɡɢցԍǥᏀɠ',
  h: 'һհнʜħᏂη',
  i: 'іιıɪᎥίІꙇɩ¡',
  j: 'јϳᴊʝ',
  k: 'кκᴋƙҝᏦ',
  l: 'ӏʟłⅼɭƖ£ǀ∣',
  m: 'мᴍⅿɱᎷ',
  n: 'пɴոռńήηᴨ',
  o: 'оοσօᴏ०๐ⲟøө',
  p: 'рρᴘҏþᏢ',
  q: 'ԛǫզɋ',
  r: 'гʀɹřгᎡя®',
  s: 'ѕꜱʂƨᏚ§',
  t: 'тτᴛƭŧᎢ†',
  u: 'υᴜսμцʋ',
  v: 'νᴠѵⅴʌᏙ',
  w: 'ԝᴡωшաѡщᎳ',
  x: 'хχⅹ×ҳ',
  y: 'уγʏүўɣყ¥Ꮍ',
  z: 'ᴢƶʐᏃ',
  '"': '“”„‟«»″〃｢｣「」『』',
  "'": '‘’‚‛′‹›`´ʼ',
  '-': '‐‑‒–—―−﹘⁃',
  '/': '⁄∕',
  '.': '。·•․',
  ',': '،、',
  '?': '؟',
  ':': '：׃∶',
  ';': '؛',
  '|': '¦',
  '!': '！ǃ',
}

const lookAlikes = new Map<number, string>()
for (const [plain, others] of Object.entries(LOOK_ALIKES)) {
  for (const other of others) {
    if (!lookAlikes.has(other.codePointAt(0) ?? 0)) lookAlikes.set(other.codePointAt(0) ?? 0, plain)
    const lower = other.toLowerCase()
    if (!lookAlikes.has(lower.codePointAt(0) ?? 0)) lookAlikes.set(lower.codePointAt(0) ?? 0, plain)
  }
}

/** The letters of Braille by their dots, and the blank; signs for capitals and numbers are dropped. */
const BRAILLE = new Map<number, string>([[0, ' ']])
const BRAILLE_LETTERS: readonly (readonly [letters: string, dots: readonly number[]])[] = [
  ['abcdefghij', [1, 3, 9, 25, 17, 11, 27, 19, 10, 26]],
  ['klmnopqrst', [5, 7, 13, 29, 21, 15, 31, 23, 14, 30]],
  ['uvxyzw', [37, 39, 45, 61, 53, 58]],
  [".,?!'-", [50, 2, 38, 22, 4, 36]],
]
for (const [letters, dots] of BRAILLE_LETTERS)
  for (const [index, dot] of dots.entries()) BRAILLE.set(dot, letters[index] as string)

const expansions: string[] = []
const expansionIndex = new Map<string, number>()
/** Stretches an Arabic word. */
const KASHIDA = 0x640
const DROPPED = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]$/u
const WORD = /^[\p{L}\p{N}\p{M}]$/u
const IDEOGRAPH =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u

/** Invisible: has no glyph, so a person does not see what a model reads. */
const INVISIBLE_RANGES: readonly (readonly [first: number, last: number])[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xe0000, 0xe007f],
]
const isInvisible = (codePoint: number): boolean =>
  INVISIBLE_RANGES.some(([first, last]) => codePoint >= first && codePoint <= last)

const kindOf = (character: string): number => {
  if (/^[\n\r\u2028\u2029\u0085]$/u.test(character)) return KIND.newline
  if (/^\s$/u.test(character)) return KIND.space
  if (IDEOGRAPH.test(character)) return KIND.ideograph
  return WORD.test(character) ? KIND.word : KIND.punctuation
}

const foldedText = (codePoint: number): string => {
  if (codePoint >= 0xe0020 && codePoint <= 0xe007e)
    return String.fromCharCode(codePoint - 0xe0000).toLowerCase()
  if (codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff)
    return String.fromCharCode(codePoint - 0x1f1e6 + 97)
  for (const base of [0x1f150, 0x1f170]) {
    if (codePoint >= base && codePoint < base + 26)
      return String.fromCharCode(codePoint - base + 97)
  }
  if (codePoint === KASHIDA) return ''
  if (codePoint >= 0x2800 && codePoint <= 0x28ff) return BRAILLE.get(codePoint - 0x2800) ?? ''
  const direct = lookAlikes.get(codePoint)
  if (direct !== undefined) return direct
  let folded = ''
  const character = String.fromCodePoint(codePoint)
  for (const part of normalizeText(character.toLowerCase(), 'NFKD').toLowerCase()) {
    if (DROPPED.test(part)) continue
    folded += lookAlikes.get(part.codePointAt(0) ?? 0) ?? part
  }
  return folded.length > 1 && IDEOGRAPH.test(character) ? normalizeText(folded, 'NFC') : folded
}

const computeFold = (codePoint: number): number => {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return (KIND.punctuation << KIND_SHIFT) | 0xfffd
  const invisible = isInvisible(codePoint) ? INVISIBLE : 0
  const folded = foldedText(codePoint)
  const first = folded.codePointAt(0)
  if (first === undefined) return invisible
  if (folded.length === (first > 0xffff ? 2 : 1))
    return (kindOf(folded) << KIND_SHIFT) | first | invisible
  let index = expansionIndex.get(folded)
  if (index === undefined) {
    index = expansions.push(folded) - 1
    expansionIndex.set(folded, index)
  }
  return (KIND.expanded << KIND_SHIFT) | index | invisible
}

/** Pages of 256 code points, computed when first met: at most 4,352 pages of 1 kB for all of Unicode. */
const pages: (Uint32Array | undefined)[] = []

/** The large blocks of scripts that fold to themselves need no table. */
const isItself = (codePoint: number): boolean =>
  (codePoint >= 0x3400 && codePoint <= 0x9fff) ||
  (codePoint >= 0xac00 && codePoint <= 0xd7a3) ||
  (codePoint >= 0x20000 && codePoint <= 0x3ffff)

/** The folded form of a code point as packed bits; see `KIND_SHIFT`. */
export const foldCodePoint = (codePoint: number): number => {
  if (isItself(codePoint)) return (KIND.ideograph << KIND_SHIFT) | codePoint
  if (codePoint >= 0x20000 && codePoint >> 12 !== 0xe0)
    return (KIND.punctuation << KIND_SHIFT) | codePoint
  let page = pages[codePoint >> 8]
  if (page === undefined) {
    page = new Uint32Array(256)
    const base = (codePoint >> 8) << 8
    for (let i = 0; i < 256; i += 1) page[i] = computeFold(base + i)
    pages[codePoint >> 8] = page
  }
  return page[codePoint & 0xff] as number
}

/** The text of a fold of kind `expanded`. */
export const expansionAt = (index: number): string => expansions[index] ?? ''

// oxlint-disable-next-line no-control-regex -- control characters are ASCII, too.
const ASCII_ONLY = /^[\0-\x7f]*$/

/** Folds the non-ASCII part of a text and leaves ASCII unchanged, so that it can also be used for RE2 sources. */
export const foldBeyondAscii = (text: string): string => {
  if (ASCII_ONLY.test(text)) return text
  let out = ''
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0
    if (codePoint < 0x80) {
      out += character
      continue
    }
    const folded = foldCodePoint(codePoint)
    const kind = (folded >> KIND_SHIFT) & 7
    if (kind === KIND.dropped) continue
    if (kind === KIND.expanded) out += expansionAt(folded & CODE_POINT_MASK)
    else if (kind === KIND.space) out += ' '
    else if (kind === KIND.newline) out += '\n'
    else out += String.fromCodePoint(folded & CODE_POINT_MASK)
  }
  return out
}
