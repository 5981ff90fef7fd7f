/** A range of bytes and its replacement. */
export interface ByteEdit {
  readonly start: number
  /** The first byte after it. */
  readonly end: number
  /** ASCII; empty by default. */
  readonly text?: string
}

/** Applies edits, which must be in order and not overlap; all other bytes are copied unchanged. */
export function editBytes(bytes: Buffer, edits: readonly ByteEdit[]): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end, text } of edits) {
    parts.push(bytes.subarray(at, start))
    if (text !== undefined) parts.push(Buffer.from(text, 'latin1'))
    at = end
  }
  parts.push(bytes.subarray(at))
  return Buffer.concat(parts)
}
