import { type Escape, readEscape } from '../text/read-escape.ts'

const BACKSLASH = 0x5c

/** A JSON text with the escapes of its strings undone, for expressions that operators write against plain text. */
export const plainJsonText = (
  source: Buffer,
): { readonly text: Buffer; readonly offsets: Int32Array | null } => {
  if (!source.includes(BACKSLASH)) return { text: source, offsets: null }
  const text = Buffer.allocUnsafe(source.length)
  const offsets = new Int32Array(source.length)
  const escape: Escape = { code_point: 0, length: 0 }
  let n = 0
  let i = 0
  while (i < source.length) {
    if (source[i] !== BACKSLASH) {
      offsets[n] = i
      text[n++] = source[i++] as number
      continue
    }
    readEscape(source, i, source.length, true, escape)
    const character = String.fromCodePoint(escape.code_point)
    const written = text.write(character, n)
    offsets.fill(i, n, n + written)
    n += written
    i += escape.length
  }
  return { text: text.subarray(0, n), offsets: offsets.subarray(0, n) }
}
