/** What the tokeniser does with each ASCII byte; bytes from 0x80 up go through `foldCodePoint`. */
export const BYTE = {
  other: 0,
  lower: 1,
  upper: 2,
  digit: 3,
  /** Blanks and the underscore, which joins words in names. */
  space: 4,
  newline: 5,
  apostrophe: 6,
  /** `\\`, `%` and `&`: the beginning of an escape, if what follows fits. */
  escape: 7,
  quote: 8,
  beyond: 9,
} as const

const classify = (byte: number): number => {
  const character = String.fromCharCode(byte)
  if (byte >= 0x80) return BYTE.beyond
  if (/[a-z]/.test(character)) return BYTE.lower
  if (/[A-Z]/.test(character)) return BYTE.upper
  if (/[0-9]/.test(character)) return BYTE.digit
  if (/[\n\r\v\f]/.test(character)) return BYTE.newline
  if (byte <= 0x20 || byte === 0x7f || character === '_') return BYTE.space
  if (character === "'") return BYTE.apostrophe
  if ('\\%&'.includes(character)) return BYTE.escape
  return character === '"' ? BYTE.quote : BYTE.other
}

/** What `SYMBOL_MARKS` says about a symbol: it stands for a letter in leetspeak, or may begin an encoding or a tag. */
export const SYMBOL_MARK = {
  leet: 1,
  less_than: 2,
  tilde: 4,
  at: 8,
  parenthesis: 16,
  hyphen: 256,
} as const
export const SYMBOL_MARKS = new Uint16Array(256)
for (const [symbols, bit] of [
  ['@$!|+', SYMBOL_MARK.leet],
  ['<', SYMBOL_MARK.less_than],
  ['~', SYMBOL_MARK.tilde],
  ['@', SYMBOL_MARK.at],
  ['(', SYMBOL_MARK.parenthesis],
  ['-', SYMBOL_MARK.hyphen],
] as const)
  for (const byte of Buffer.from(symbols)) SYMBOL_MARKS[byte] = (SYMBOL_MARKS[byte] as number) | bit
export const BYTE_CLASS = Uint8Array.from({ length: 256 }, (_, byte) => classify(byte))
export const LOWER_CASE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte,
)
/** Above the lower-case letter in `WORD_BYTE`: one bit per kind. */
export const WORD_KIND_SHIFT = 8
/** 0 if the byte is neither letter nor digit, else the lower-case byte and, shifted, the bit of its kind. */
export const WORD_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  const kind = BYTE_CLASS[byte] as number
  const isWord = kind === BYTE.lower || kind === BYTE.upper || kind === BYTE.digit
  return isWord ? (LOWER_CASE[byte] as number) | (1 << (WORD_KIND_SHIFT + kind)) : 0
})
/** 255 if the byte is not a hex digit. */
export const HEX_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase())
  return value < 0 ? 255 : value
})
