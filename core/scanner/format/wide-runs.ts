/** Fewer characters cannot hide a sentence, and occur by chance in tables of small numbers. */
const SHORTEST_RUN = 12

const PRINTABLE = Uint8Array.from({ length: 256 }, (_, byte) =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d ? 1 : 0,
)

/**
 * The UTF-16 runs in other binary bytes, one per line; null if there are none. In either byte order, because one looks like the
 * other shifted by a byte. ASCII letters only: others look like arbitrary numbers.
 */
export const wideRuns = (body: Buffer): Buffer | null => {
  const first = body.indexOf(0)
  if (first < 0) return null
  const printable = PRINTABLE
  const text = Buffer.allocUnsafe((body.length >> 1) + 2)
  let n = 0
  let i = Math.max(0, first - 1)
  while (i + 1 < body.length) {
    if (body[i + 1] !== 0 || printable[body[i] as number] === 0) {
      i += 1
      continue
    }
    const start = n
    while (i < body.length && printable[body[i] as number] === 1) {
      text[n] = body[i] as number
      n += 1
      if (body[i + 1] !== 0) break
      i += 2
    }
    i += 1
    if (n - start < SHORTEST_RUN) n = start
    else text[n++] = 0x0a
  }
  return n === 0 ? null : text.subarray(0, n)
}
