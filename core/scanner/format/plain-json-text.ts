import { type Escape, readEscape } from '../text/read-escape.ts'

const BACKSLASH = 0x5c
const COPIED_BYTES = 256

/** A JSON text with the escapes of its strings undone, and the way back to the offsets of the source. */
export type PlainText = { readonly text: Buffer; readonly sourceOffset: (offset: number) => number }

/** Line breaks are most of the escapes of a text, so they take the short way. */
const readPlainEscape = (source: Buffer, at: number, into: Escape): void => {
  if (source[at + 1] !== 0x6e) {
    readEscape(source, at, source.length, true, into)
    return
  }
  into.code_point = 0x0a
  into.length = 2
}

/**
 * Undoes the escapes, for expressions that operators write against plain text. What lies between two
 * escapes is copied in one go, which keeps this far below the cost of the search.
 */
export const plainJsonText = (source: Buffer): PlainText => {
  let at = source.indexOf(BACKSLASH)
  if (at < 0) return { text: source, sourceOffset: (offset) => offset }
  const text = Buffer.allocUnsafe(source.length)
  const escape: Escape = { code_point: 0, length: 0 }
  /** Pairs: offset in the text behind an escape, offset in the source there. */
  const seams: number[] = []
  let n = 0
  let from = 0
  while (at >= 0) {
    // A call into the copy of Buffer costs as much as some hundred bytes by hand.
    if (at - from > COPIED_BYTES) n += source.copy(text, n, from, at)
    else for (let i = from; i < at; i += 1) text[n++] = source[i] as number
    readPlainEscape(source, at, escape)
    if (escape.code_point < 0x80) text[n++] = escape.code_point
    else n += text.write(String.fromCodePoint(escape.code_point), n)
    from = at + escape.length
    seams.push(n, from)
    at = source.indexOf(BACKSLASH, from)
  }
  n += source.copy(text, n, from)
  const sourceOffset = (offset: number): number => {
    let low = 0
    let high = seams.length / 2
    while (low < high) {
      const middle = (low + high) >> 1
      if ((seams[middle * 2] as number) <= offset) low = middle + 1
      else high = middle
    }
    return low === 0
      ? offset
      : (seams[low * 2 - 1] as number) + offset - (seams[low * 2 - 2] as number)
  }
  return { text: text.subarray(0, n), sourceOffset }
}
