/** A range of bytes that goes, and what comes in its place. */
export interface ByteEdit {
  readonly start: number
  /** The first byte after it. */
  readonly end: number
  /** ASCII; nothing where it is left out. */
  readonly text?: string
}

/** The bytes after these edits, which are in order and do not overlap; every other byte is copied as it is. */
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
