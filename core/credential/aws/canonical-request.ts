import { createHash } from 'node:crypto'
import type { FilledPair, SignableRequest } from '../credential-type.ts'

/**
 * Services that sign the path as it is spelled, with escapes normalized. All others take the path on the wire for plain text
 * and escape it once more.
 */
const SIGNS_PATH_ONCE: ReadonlySet<string> = new Set([
  's3',
  's3-object-lambda',
  's3-outposts',
  's3express',
])

export const isS3 = (service: string): boolean => SIGNS_PATH_ONCE.has(service)

/** The canonical request of Signature Version 4, and the names of the headers in it. */
export function canonicalRequest(
  request: SignableRequest,
  service: string,
): { readonly text: string; readonly signed_headers: string } {
  const headers = canonicalHeaders(request.headers)
  const signed_headers = headers.map(([name]) => name).join(';')
  const text = [
    request.method,
    canonicalPath(request.raw_path, service),
    canonicalQuery(request.raw_query),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signed_headers,
    request.payload,
  ].join('\n')
  return { text, signed_headers }
}

/** SHA-256 in lower-case hex of a text with one character per byte. */
export const hashOfText = (text: string): string =>
  createHash('sha256').update(text, 'latin1').digest('hex')

export function canonicalPath(raw_path: string, service: string): string {
  if (isS3(service)) return escapeOnce(raw_path).replaceAll('%2F', '/')
  const segments = raw_path.split('/').filter((segment) => segment !== '')
  if (segments.length === 0) return '/'
  const end = raw_path.endsWith('/') ? '/' : ''
  return `/${segments.map(escapeAll).join('/')}${end}`
}

/** Sorted by name, then by value, both escaped; a name alone has an empty value. */
export function canonicalQuery(raw_query: string | null): string {
  if (raw_query === null) return ''
  const pairs = raw_query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair): readonly [string, string] => {
      const equals = pair.indexOf('=')
      return equals === -1
        ? [escapeOnce(pair), '']
        : [escapeOnce(pair.slice(0, equals)), escapeOnce(pair.slice(equals + 1))]
    })
  return pairs
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** White space of HTTP. JavaScript's `trim` would remove the last byte of `à` in UTF-8. */
const BLANKS = /[ \t]+/g
const OUTER_BLANKS = /^ | $/g

/** Lines with the same name are joined, outer blanks are removed, inner ones become one. */
function canonicalHeaders(headers: readonly FilledPair[]): (readonly [string, string])[] {
  const lines = new Map<string, string>()
  for (const { name, value } of headers) {
    const text = value.replace(BLANKS, ' ').replace(OUTER_BLANKS, '')
    const before = lines.get(name)
    lines.set(name, before === undefined ? text : `${before},${text}`)
  }
  return [...lines].sort(([a], [b]) => compare(a, b))
}

/** By code unit, as AWS sorts, not by language. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const ESCAPES = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return /[A-Za-z0-9._~-]/.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
})

const escapeByte = (byte: number): string => ESCAPES[byte & 0xff] ?? ''

function escapeAll(text: string): string {
  let escaped = ''
  for (let i = 0; i < text.length; i++) escaped += escapeByte(text.charCodeAt(i))
  return escaped
}

/** Escapes stay, in upper case; characters that need no escape are not escaped; a plus is a blank. */
function escapeOnce(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})|[^]/g, (found, hex: string | undefined) => {
    if (hex !== undefined) return escapeByte(Number.parseInt(hex, 16))
    return found === '+' ? '%20' : escapeByte(found.charCodeAt(0))
  })
}
