import { parseUrl } from '../../core/bounded/parse-url.ts'
/** Where a reference in a response header leads a client that resolves it. */
export type Reference =
  /** Below the API that was called. */
  | { readonly kind: 'same_api'; readonly url: URL }
  /** `text` is what every client reads in the same way. */
  | { readonly kind: 'elsewhere'; readonly text: string; readonly url: URL }
  /** A scheme of another protocol. */
  | { readonly kind: 'other_scheme'; readonly text: string; readonly after_scheme: string }
  | { readonly kind: 'unreadable' }

const UNREADABLE: Reference = { kind: 'unreadable' }
/** Half of what the gateway takes in a call; longer ones are not compared with what leads back to it. */
const PATH_LENGTH_LIMIT = 8_192

/** What Envoy takes for all headers of a call, so a longer one cannot be called through the gateway. */
const REFERENCE_LENGTH_LIMIT = 65_536

const SCHEME = /^([a-z][a-z\d+.-]*):/i
/**
 * Written so, every client reads the same host, unless it is a number in another form (`0127.1`); all else is written
 * out as the URL standard reads it.
 */
const PLAIN_HTTP = /^https?:\/\/([a-z\d._-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?:[/?#][!-[\]-~]*)?$/i
const PRINTABLE = /^[!-~]*$/

/**
 * Reads a reference as the URL standard does, which fetch and browsers follow; other clients differ where it is not
 * plain, so what goes out is written plainly.
 * @param raw one character per byte (latin1)
 * @param base the URL that the API was called with
 */
export function readReference(raw: string, base: URL): Reference {
  const escaped = escapeBytes(raw)
  if (escaped.length > REFERENCE_LENGTH_LIMIT) return UNREADABLE
  const text = withoutStrippedCharacters(escaped)
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return readRelative(text, base)
  if (scheme !== 'http' && scheme !== 'https')
    return PRINTABLE.test(text)
      ? { kind: 'other_scheme', text, after_scheme: text.slice(scheme.length + 1) }
      : UNREADABLE
  // Without an authority some clients read a path of the present host, and others a host.
  if (!/^[/\\]{2}/.test(text.slice(scheme.length + 1))) return UNREADABLE
  const url = parseUrl(text)
  if (url === null || url.pathname.length > PATH_LENGTH_LIMIT) return UNREADABLE
  const isPlain = PLAIN_HTTP.exec(raw)?.[1]?.toLowerCase() === url.hostname
  return { kind: 'elsewhere', text: isPlain ? raw : url.href, url }
}

function readRelative(text: string, base: URL): Reference {
  const url = parseUrl(text, base)
  if (url === null || url.pathname.length > PATH_LENGTH_LIMIT) return UNREADABLE
  if (url.origin !== base.origin) return { kind: 'elsewhere', text: url.href, url }
  return { kind: 'same_api', url }
}

/** What the URL standard takes out before it parses: blanks and control characters around, tabs and line ends inside. */
const withoutStrippedCharacters = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/^[\0-\x20]+|(?<![\0-\x20])[\0-\x20]+$|[\t\n\r]/g, '')

const ESCAPED = Array.from({ length: 0x100 }, (_, byte) => `%${byte.toString(16).toUpperCase()}`)

/** Bytes outside of ASCII, percent-encoded: clients decode them in different ways, or not. */
export function escapeBytes(raw: string): string {
  // `replaceAll` with a function keeps a list of all matches; for 10,000 of them that costs ten times as much as this.
  let escaped = ''
  let from = 0
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i)
    if (code < 0x80 || code > 0xff) continue
    escaped += raw.slice(from, i) + ESCAPED[code]
    from = i + 1
  }
  return from === 0 ? raw : escaped + raw.slice(from)
}
