/** As often as anything between a client and this gateway may decode. */
const DECODING_ROUNDS = 4

const TARGET = /^[/.;]*https?:/

/**
 * Whether a path begins with `http:` or `https:`, in any spelling that this gateway, or a proxy in front of it, would
 * read as a target URL: another case, percent-encoded, behind further slashes or dot segments, full width.
 */
export function isTargetPath(path: string): boolean {
  let text = path
  for (let round = 0; round < DECODING_ROUNDS; round++) {
    const plain = plainPath(text)
    if (TARGET.test(plain)) return true
    const decoded = decode(text)
    if (decoded === text) return false
    text = decoded
  }
  // Encoded more often than that, it is meant to deceive.
  return true
}

/** Blanks, control and format characters, and what stands for bytes that are no UTF-8. */
const INVISIBLE = /[\p{C}\p{Z}\ufffd]/gu

/** Without invisible characters, backslashes as slashes, dot segments resolved, folded. */
function plainPath(text: string): string {
  const slashed = text.replaceAll(INVISIBLE, '').replaceAll('\\', '/')
  const segments: string[] = []
  for (const segment of slashed.split('/'))
    if (segment === '..') segments.pop()
    else if (segment !== '.') segments.push(segment)
  return segments.join('/').normalize('NFKC').toLowerCase()
}

/** Percent-encoded bytes as UTF-8, and those that are none as they stand. */
const decode = (text: string): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString('utf8'),
  )
