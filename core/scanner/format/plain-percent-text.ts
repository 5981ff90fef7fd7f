import { offsetsBehind, type PlainText } from './plain-text.ts'

const PERCENT = 0x25
const ESCAPE_BYTES = 3

const hexValue = (byte: number | undefined): number => {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Decodes percent-encoded bytes, once; null if there are none. Anything else, such as `100%`, is kept. */
export const plainPercentText = (source: Buffer): PlainText | null => {
  let at = source.indexOf(PERCENT)
  if (at < 0) return null
  const text = Buffer.allocUnsafe(source.length)
  const seams: number[] = []
  let read = 0
  let n = 0
  for (; at >= 0; at = source.indexOf(PERCENT, at + 1)) {
    const high = hexValue(source[at + 1])
    const low = hexValue(source[at + 2])
    // A percent sign within an escape that was read is none of its own.
    if (at < read || high < 0 || low < 0) continue
    n += source.copy(text, n, read, at)
    text[n++] = high * 16 + low
    read = at + ESCAPE_BYTES
    seams.push(n, read)
  }
  if (seams.length === 0) return null
  n += source.copy(text, n, read)
  return { text: text.subarray(0, n), sourceOffset: offsetsBehind(seams) }
}
