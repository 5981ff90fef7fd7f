/** A text has at most this share of control characters; an image or an archive has more than a tenth. */
const TEXT_BYTES_PER_CONTROL = 32

const isControl = (byte: number): boolean =>
  byte < 0x20 ? byte !== 0x09 && byte !== 0x0a && byte !== 0x0d : byte === 0x7f

const CONTROL = Uint8Array.from({ length: 256 }, (_, byte) => (isControl(byte) ? 1 : 0))

/** Whether bytes are not text in any charset that contains ASCII. */
export const isBinary = (body: Buffer): boolean => {
  const control = CONTROL
  let count = 0
  for (let i = 0; i < body.length; i += 1) count += control[body[i] as number] as number
  return count > body.length / TEXT_BYTES_PER_CONTROL
}

/** The length of the UTF-8 character at this position; 0 if there is no readable one. */
const characterLength = (body: Buffer, at: number): number => {
  const byte = body[at] as number
  if (byte < 0x80) return isControl(byte) ? 0 : 1
  const length = byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0
  for (let k = 1; k < length; k += 1) if (((body[at + k] as number) & 0xc0) !== 0x80) return 0
  return at + length <= body.length ? length : 0
}

/** The length of a word in a command or an attack; shorter runs occur by chance in any bytes. */
const WORD_BYTES = 3
/** The length of a sentence. */
const SENTENCE_BYTES = 40

export type ReadableRuns = { readonly words: Buffer | null; readonly sentences: Buffer | null }

/** The readable runs of binary bytes, one per line: everything that may be words, and runs of a sentence's length. */
export const readableRuns = (body: Buffer): ReadableRuns => {
  // Every line end except the last replaces a byte that is left out.
  const words = Buffer.allocUnsafe(body.length + 1)
  const sentences: Buffer[] = []
  let n = 0
  let i = 0
  while (i < body.length) {
    const start = n
    while (i < body.length) {
      const byte = body[i] as number
      if (byte < 0x80) {
        if (isControl(byte)) break
        words[n++] = byte
        i += 1
        continue
      }
      const end = i + characterLength(body, i)
      if (end === i) break
      while (i < end) words[n++] = body[i++] as number
    }
    i += 1
    if (n - start < WORD_BYTES) {
      n = start
      continue
    }
    words[n++] = 0x0a
    if (n - start > SENTENCE_BYTES) sentences.push(words.subarray(start, n))
  }
  return {
    words: n === 0 ? null : words.subarray(0, n),
    sentences: sentences.length === 0 ? null : Buffer.concat(sentences),
  }
}
