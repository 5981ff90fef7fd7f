/** What the tokeniser does with each ASCII byte; bytes from 0x80 up go through `foldCodePoint`. */
export const BYTE = {
  other: 0,
  lower: 1,
  upper: 2,
  digit: 3,
  space: 4,
  newline: 5,
  underscore: 6,
  apostrophe: 7,
  /** `\`, `%` and `&`: the beginning of an escape, if what follows fits. */
  escape: 8,
  quote: 9,
  /** Symbols that stand for letters in leetspeak. */
  leet: 10,
  beyond: 11,
} as const

const classify = (byte: number): number => {
  const character = String.fromCharCode(byte)
  if (byte >= 0x80) return BYTE.beyond
  if (/[a-z]/.test(character)) return BYTE.lower
  if (/[A-Z]/.test(character)) return BYTE.upper
  if (/[0-9]/.test(character)) return BYTE.digit
  if (/[\n\r\v\f]/.test(character)) return BYTE.newline
  if (byte <= 0x20 || byte === 0x7f) return BYTE.space
  if (character === '_') return BYTE.underscore
  if (character === "'" || character === '`') return BYTE.apostrophe
  if ('\\%&'.includes(character)) return BYTE.escape
  if (character === '"') return BYTE.quote
  return '@$!|+('.includes(character) ? BYTE.leet : BYTE.other
}

export const BYTE_CLASS = Uint8Array.from({ length: 256 }, (_, byte) => classify(byte))
export const LOWER_CASE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte,
)
/** 255 where the byte is no hex digit. */
export const HEX_VALUE = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase())
  return value < 0 ? 255 : value
})
