const LINE_FEED = 0x0a

/** Views of the lines of a text, without their line feeds. */
export function splitLines(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  let from = 0
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, from)
    if (end < 0) break
    lines.push(bytes.subarray(from, end))
    from = end + 1
  }
  lines.push(bytes.subarray(from))
  return lines
}
