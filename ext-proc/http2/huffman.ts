/**
 * Lengths in bits of the codes of RFC 7541, Appendix B, for the bytes 0 to 255 and the end of a text. The codes follow
 * from them: they ascend with the length, and with the symbol where the length is the same.
 */
const LENGTHS: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]
const END_OF_TEXT = 256
const LONGEST_BITS = 30
/** A last byte is filled with ones; a whole byte of them would be the beginning of another symbol. */
const PADDING_BITS_MAX = 7

/** Of each length: its first code, how many there are, and where their symbols begin in `SYMBOLS`. */
const FIRST_CODE: number[] = []
const COUNT: number[] = []
const OFFSET: number[] = []
const SYMBOLS = LENGTHS.map((_, symbol) => symbol).sort(
  (a, b) => (LENGTHS[a] ?? 0) - (LENGTHS[b] ?? 0) || a - b,
)
for (let bits = 0, code = 0, offset = 0; bits <= LONGEST_BITS; bits++) {
  const count = LENGTHS.filter((length) => length === bits).length
  FIRST_CODE.push(code)
  COUNT.push(count)
  OFFSET.push(offset)
  code = (code + count) * 2
  offset += count
}

/**
 * Text in the Huffman code of HPACK, one character a byte.
 * @throws when it is malformed
 */
export function readHuffman(bytes: Buffer): string {
  const out = Buffer.allocUnsafe(Math.ceil((bytes.length * 8) / 5))
  let length = 0
  let code = 0
  let bits = 0
  for (const byte of bytes) {
    for (let shift = 7; shift >= 0; shift--) {
      code = code * 2 + ((byte >> shift) & 1)
      bits++
      const index = code - (FIRST_CODE[bits] ?? 0)
      if (index < 0 || index >= (COUNT[bits] ?? 0)) {
        if (bits >= LONGEST_BITS) throw new Error('HPACK: no such Huffman code')
        continue
      }
      const symbol = SYMBOLS[(OFFSET[bits] ?? 0) + index] ?? END_OF_TEXT
      if (symbol === END_OF_TEXT) throw new Error('HPACK: a text ends within itself')
      out[length++] = symbol
      code = 0
      bits = 0
    }
  }
  if (bits > PADDING_BITS_MAX || code !== 2 ** bits - 1) throw new Error('HPACK: bad padding')
  return out.toString('latin1', 0, length)
}
