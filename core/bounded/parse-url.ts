import { domainToASCII, domainToUnicode } from 'node:url'

/** Longer names do not exist in DNS, the final dot included. To read one that is not plain takes time quadratic in its length. */
const HOST_LENGTH_LIMIT = 254
const LABEL_LENGTH_LIMIT = 63
/** In the URL standard, all of these separate labels. */
const DOTS = /[.\u3002\uff0e\uff61]/
/** Skipped by the standard's parser, before the URL and within it. */
// oxlint-disable-next-line no-control-regex
const SKIPPED = /^[\0-\x20]+|[\t\r\n]+/g
/** Of a URL, also of one without its scheme: user, host and port. */
const AUTHORITY = /^(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i
/** Only these are decoded or mapped; any other host is read in one pass. */
const NOT_PLAIN = /[^\0-\x7f]|%|xn-/i

const isShortHost = (text: string): boolean =>
  !NOT_PLAIN.test(text) ||
  (text.length <= HOST_LENGTH_LIMIT &&
    text.split(DOTS).every((label) => label.length <= LABEL_LENGTH_LIMIT))

/** The name in ASCII; empty if it is none, or too long to be one. */
export const asciiHost = (name: string): string => (isShortHost(name) ? domainToASCII(name) : '')

/** The name in Unicode; empty if it is none, or too long to be one. */
export const unicodeHost = (name: string): string =>
  isShortHost(name) ? domainToUnicode(name) : ''

/** Null if the URL cannot be read, or if its host is too long to be one. Takes time linear in the length of the text. */
export function parseUrl(text: string, base?: URL | string): URL | null {
  const authority = AUTHORITY.exec(text.replaceAll(SKIPPED, ''))?.[1] ?? ''
  if (!isShortHost(authority.slice(authority.lastIndexOf('@') + 1))) return null
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

/** @throws if it cannot be read: for a URL that has been checked before */
export function knownUrl(text: string, base?: URL | string): URL {
  const url = parseUrl(text, base)
  if (url === null) throw new TypeError('not a URL, or one with a host that is too long')
  return url
}
