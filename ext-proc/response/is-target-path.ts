import { normalizeText } from '../../core/bounded/normalize-text.ts'
import { pathDecodings } from './path-decodings.ts'

const TARGET = /^[/.;]*https?:/

/**
 * Whether a path begins with `http:` or `https:`, in any spelling that this gateway, or a proxy in front of it, would
 * read as a target URL: another case, percent-encoded, behind further slashes or dot segments, full width.
 */
export const isTargetPath = (path: string): boolean =>
  pathDecodings(path)?.some((text) => TARGET.test(plainPath(text))) ?? true

/** Blanks, control and format characters, and what stands for bytes that are no UTF-8. */
const INVISIBLE = /[\p{C}\p{Z}\ufffd]/gu

const PRINTABLE = /^[!-~]*$/

/** Without invisible characters, backslashes as slashes, dot segments resolved, folded. */
function plainPath(text: string): string {
  const shown = PRINTABLE.test(text) ? text : text.replaceAll(INVISIBLE, '')
  const slashed = shown.replaceAll('\\', '/')
  const segments: string[] = []
  for (const segment of slashed.split('/'))
    if (segment === '..') segments.pop()
    else if (segment !== '.') segments.push(segment)
  return normalizeText(segments.join('/'), 'NFKC').toLowerCase()
}
