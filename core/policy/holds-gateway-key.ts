import { isWellFormedKey } from '../api-key.ts'

/** The length of the shortest key. Every encoding is longer, so most values need no further check. */
const KEY_BYTES = 'agw_live_'.length + 38
/** Levels of encoding that are decoded: a URL in a parameter of a URL has two. */
const ROUNDS_MAX = 3
const PREFIX = /agw_(?:live|admin)_/g
/** Levels of Base64: a token that contains an `Authorization`, or a secret that was encoded twice. */
const BASE64_DEPTH_MAX = 2
const BASE64_RUN = /[A-Za-z0-9+/_-]{63,}/g

/** The bytes `agw_` in Base64 and Base64url, beginning at the first, second and third byte of a group. */
const ONCE = ['YWd3X2', 'Fnd19', 'hZ3df']
/** The same for these texts; the characters at the ends depend on their neighbors. */
const TWICE = ONCE.flatMap((text) =>
  [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
    const first = Math.ceil((shift * 8) / 6)
    return bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6))
  }),
)
const IN_BASE64 = new RegExp(ONCE.join('|'))
/** A key in Base64 twice is at least as long. */
const TWICE_BYTES = 84

/**
 * Whether a text contains a gateway key: as it is, percent-encoded, escaped as in JSON, or in Base64 as in `Basic`, once or
 * twice. Such a header, cookie or parameter is never sent upstream, because the key gives access to the gateway.
 * @param text one character per byte (latin1)
 */
export function holdsGatewayKey(text: string): boolean {
  if (text.length < KEY_BYTES) return false
  let plain = text
  for (let round = 0; ; round++) {
    if (holdsPlainKey(plain) || holdsKeyInBase64(plain, BASE64_DEPTH_MAX)) return true
    if (round === ROUNDS_MAX) return false
    const decoded = decode(plain)
    if (decoded === plain) return false
    plain = decoded
  }
}

function holdsPlainKey(text: string): boolean {
  if (!text.includes('agw_')) return false
  for (const { 0: prefix, index } of text.matchAll(PREFIX))
    if (isWellFormedKey(text.slice(index, index + prefix.length + 38))) return true
  return false
}

/** Characters of the same alphabet may precede the encoded text, so each position in a group is tried. */
const holdsKeyInBase64 = (text: string, depth: number): boolean =>
  depth > 0 &&
  (IN_BASE64.test(text) ||
    (text.length >= TWICE_BYTES && TWICE.some((part) => text.includes(part)))) &&
  (text.match(BASE64_RUN) ?? []).some((run) =>
    [0, 1, 2, 3].some((start) => {
      const decoded = Buffer.from(run.slice(start), 'base64').toString('latin1')
      return holdsPlainKey(decoded) || holdsKeyInBase64(decoded, depth - 1)
    }),
  )

/** Perl's CGI and classic ASP read `%u0061` like `%61`. */
const ESCAPED = /%(?:u00)?([0-9a-f]{2})|\\u00([0-9a-f]{2})/gi

const decode = (text: string): string =>
  text.includes('%') || text.includes('\\u')
    ? text.replace(ESCAPED, (_, percent: string | undefined, escape: string | undefined) =>
        String.fromCharCode(Number.parseInt(percent ?? escape ?? '', 16)),
      )
    : text
