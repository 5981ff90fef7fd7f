import { type Escape, readEscape } from '../text/read-escape.ts'
import { offsetsBehind, type PlainText } from './plain-text.ts'

const BACKSLASH = 0x5c
const FOUR_BACKSLASHES = 0x5c5c5c5c
const WORD_BYTES = 4

/** Most escapes of a text are line breaks, so they are handled first. */
const readPlainEscape = (source: Buffer, at: number, into: Escape): void => {
  if (source[at + 1] !== 0x6e) {
    readEscape(source, at, source.length, true, into)
    return
  }
  into.code_point = 0x0a
  into.length = 2
}

/**
 * Decodes the escapes of the strings, because operators write their expressions for plain text. Four bytes are copied at a time while none is
 * a backslash, so the cost stays far below that of the search.
 */
export const plainJsonText = (source: Buffer): PlainText => {
  let at = source.indexOf(BACKSLASH)
  if (at < 0) return { text: source, sourceOffset: (offset) => offset }
  const { length } = source
  const text = Buffer.allocUnsafe(length + WORD_BYTES)
  const from = new DataView(source.buffer, source.byteOffset, length)
  const to = new DataView(text.buffer, text.byteOffset, text.length)
  const fourBackslashes = FOUR_BACKSLASHES
  const escape: Escape = { code_point: 0, length: 0 }
  /** Pairs: offset in the text behind an escape, offset in the source there. */
  const seams: number[] = []
  let n = source.copy(text, 0, 0, at)
  while (at < length) {
    while (at + WORD_BYTES <= length) {
      const word = from.getInt32(at, true)
      const other = word ^ fourBackslashes
      // The classic test for a zero byte.
      if (((other - 0x01010101) & ~other & 0x80808080) !== 0) break
      to.setInt32(n, word, true)
      at += WORD_BYTES
      n += WORD_BYTES
    }
    while (at < length && source[at] !== BACKSLASH) {
      text[n] = source[at] as number
      n += 1
      at += 1
    }
    if (at >= length) break
    readPlainEscape(source, at, escape)
    if (escape.code_point < 0x80) text[n++] = escape.code_point
    else n += text.write(String.fromCodePoint(escape.code_point), n)
    at += escape.length
    seams.push(n, at)
  }
  return { text: text.subarray(0, n), sourceOffset: offsetsBehind(seams) }
}
