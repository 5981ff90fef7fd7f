import { hexDigit } from './decode-path.ts'

/**
 * A name or value of `application/x-www-form-urlencoded`: `+` is a space, a malformed escape stays as it is, and bytes that are
 * not UTF-8 become U+FFFD, as in the WHATWG URL standard.
 * @param raw one character per byte (latin1).
 */
export function decodeFormText(raw: string): string {
  let isPlain = true
  for (let i = 0; i < raw.length && isPlain; i++) {
    const c = raw.charCodeAt(i)
    isPlain = c !== 0x25 && c !== 0x2b && c < 0x80
  }
  if (isPlain) return raw
  const bytes = Buffer.allocUnsafe(raw.length)
  let length = 0
  for (let i = 0; i < raw.length; i++) {
    const c = raw.charCodeAt(i)
    const high = c === 0x25 ? hexDigit(raw.charCodeAt(i + 1)) : -1
    const low = high < 0 ? -1 : hexDigit(raw.charCodeAt(i + 2))
    if (low >= 0) {
      bytes[length++] = high * 16 + low
      i += 2
    } else {
      bytes[length++] = c === 0x2b ? 0x20 : c
    }
  }
  return bytes.toString('utf8', 0, length)
}

/** Perl's CGI, classic ASP and ASP.NET also decode `%u005F`. */
export const withPlainEscapes = (raw: string): string =>
  raw.includes('%u') || raw.includes('%U')
    ? raw.replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => escapeUtf8(Number.parseInt(hex, 16)))
    : raw

const escapeUtf8 = (code: number): string =>
  Buffer.from(String.fromCharCode(code)).toString('hex').replace(/../g, '%$&')
