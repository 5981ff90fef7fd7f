import { isWellFormedKey } from '../api-key.ts'

/** The shortest key; every spelling of one is longer. Most values of a request are done with by this. */
const KEY_BYTES = 'agw_live_'.length + 38
/** Encodings within encodings that are undone: a URL within a parameter of a URL has two. */
const ROUNDS_MAX = 3
const PREFIX = /agw_(?:live|admin)_/g
/** The bytes `agw_` in Base64 and Base64url, from the first, second and third byte of a group on. */
const IN_BASE64 = /YWd3X2|Fnd19|hZ3df/
const BASE64_RUN = /[A-Za-z0-9+/_-]{63,}/g

/**
 * Whether a text holds a gateway key anywhere: as it is, percent-encoded, escaped as in JSON, or in Base64, as `Basic`
 * has it. Such a header, cookie or parameter never goes upstream, where the key would open the gateway.
 * @param text one character per byte (latin1)
 */
export function holdsGatewayKey(text: string): boolean {
  if (text.length < KEY_BYTES) return false
  let plain = text
  for (let round = 0; ; round++) {
    if (holdsPlainKey(plain) || (IN_BASE64.test(plain) && holdsKeyInBase64(plain))) return true
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

/** What stands before the encoded text may be of the same letters, so each place in a group is tried. */
const holdsKeyInBase64 = (text: string): boolean =>
  (text.match(BASE64_RUN) ?? []).some((run) =>
    [0, 1, 2, 3].some((start) =>
      holdsPlainKey(Buffer.from(run.slice(start), 'base64').toString('latin1')),
    ),
  )

const ESCAPED = /%([0-9a-f]{2})|\\u00([0-9a-f]{2})/gi

const decode = (text: string): string =>
  text.includes('%') || text.includes('\\u')
    ? text.replace(ESCAPED, (_, percent: string | undefined, escape: string | undefined) =>
        String.fromCharCode(Number.parseInt(percent ?? escape ?? '', 16)),
      )
    : text
