/** The printable characters of code page 037, which the other EBCDIC pages share for letters, digits and blanks. */
const RUNS: readonly (readonly [first: number, characters: string])[] = [
  [0x25, '\n'],
  [0x15, '\n'],
  [0x40, ' '],
  [0x4b, '.<(+|&'],
  [0x5a, '!$*);'],
  [0x60, '-/'],
  [0x6b, ',%_>?'],
  [0x7a, ':#@\'="'],
  [0x81, 'abcdefghi'],
  [0x91, 'jklmnopqr'],
  [0xa2, 'stuvwxyz'],
  [0xc1, 'ABCDEFGHI'],
  [0xd1, 'JKLMNOPQR'],
  [0xe2, 'STUVWXYZ'],
  [0xf0, '0123456789'],
]

const TABLE = new Uint8Array(256)
for (const [first, characters] of RUNS) {
  for (const [index, character] of Array.from(characters).entries())
    TABLE[first + index] = character.charCodeAt(0)
}

/** Nearly all bytes of a text in EBCDIC have a character, and every seventh is a blank or more. */
const LEAST_READABLE = 0.97
const LEAST_BLANKS = 1 / 16

/** Bytes in EBCDIC as ASCII; unless `isKnown`, null if they do not look like such a text. */
export const fromEbcdic = (bytes: Buffer, isKnown = false): Buffer | null => {
  const text = Buffer.allocUnsafe(bytes.length)
  let readable = 0
  let blanks = 0
  for (let i = 0; i < bytes.length; i += 1) {
    const character = TABLE[bytes[i] as number] as number
    text[i] = character === 0 ? 0x20 : character
    if (character !== 0) readable += 1
    if (bytes[i] === 0x40) blanks += 1
  }
  const isText = readable >= bytes.length * LEAST_READABLE && blanks >= bytes.length * LEAST_BLANKS
  return isKnown || isText ? text : null
}
