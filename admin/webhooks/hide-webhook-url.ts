import { parseUrl, knownUrl } from '../../core/bounded/parse-url.ts'
const HIDDEN = '***'
/** Of a URL of which not even the origin can be shown. */
export const HIDDEN_URL = `https://${HIDDEN}`
/** Parts of a URL that are shorter are words such as `services` or `hooks`, and stand in any text. */
const PART_LENGTH_MIN = 9

/**
 * A webhook's URL can be its secret, as those of Slack and Teams are: anyone who has it can post there. Below the role
 * `admin`, and in the activity log, its origin is shown; path and query are not.
 */
export function hideWebhookUrl(url: string): string {
  const parsed = parseUrl(url)
  if (parsed === null) return HIDDEN
  const { origin, pathname, search } = parsed
  return pathname === '/' && search === '' ? url : `${origin}/${HIDDEN}`
}

/** Whether a URL is the masked form of another; storing it would destroy the original. */
export const isHiddenUrl = (url: string): boolean => url.endsWith(`/${HIDDEN}`)

/** A receiver's text without the parts of the URL that was called, which an error page may repeat. */
export function hideUrlParts(text: string, url: string): string {
  const { pathname, search } = knownUrl(url)
  const path = pathname + search
  const parts = path.split(/[/?&=]/).flatMap((part) => [part, decoded(part)])
  const long = [path, pathname, ...parts].filter((part) => part.length >= PART_LENGTH_MIN)
  // Longest first, since it contains the others.
  long.sort((a, b) => b.length - a.length)
  const cut = Math.max(0, ...long.map((part) => cutLength(text, part)))
  const whole = cut === 0 ? text : text.slice(0, -cut) + HIDDEN
  return long.reduce((shown, part) => shown.replaceAll(part, HIDDEN), whole)
}

/** The number of characters at the end of a truncated text that are the beginning of a secret part; 0 if they are too few. */
function cutLength(text: string, part: string): number {
  if (text.endsWith(part)) return 0
  // At each character of the two: how much of the part ends there (Knuth, Morris and Pratt).
  const both = `${part}\0${text.slice(-part.length)}`
  const lengths = new Uint16Array(both.length)
  for (let i = 1; i < both.length; i++) {
    let length = lengths[i - 1] ?? 0
    while (length > 0 && both[i] !== both[length]) length = lengths[length - 1] ?? 0
    lengths[i] = both[i] === both[length] ? length + 1 : 0
  }
  const length = lengths.at(-1) ?? 0
  return length >= PART_LENGTH_MIN ? length : 0
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
