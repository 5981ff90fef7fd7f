import { isUtf8 } from 'node:buffer'
import { isIPv6 } from 'node:net'
import { asciiHost, unicodeHost, knownUrl } from '../bounded/parse-url.ts'

const ESCAPED_BYTE = /%([89a-f][0-9a-f])/gi
const unescapeByte = (_: string, hex: string): string =>
  String.fromCharCode(Number.parseInt(hex, 16))

export type HostProblem = 'missing_host' | 'bad_host' | 'ip_spelling'

const HOST_LENGTH_LIMIT = 253
const LABEL_LENGTH_LIMIT = 63
const DOTTED_QUAD =
  /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/
/** A last label that the WHATWG URL standard reads as a number, which makes the host an IPv4 address. */
const NUMBER_LABEL = /^(?:\d+|0x[0-9a-f]*)$/

/**
 * Lower case, IDN in punycode, without one trailing dot, IPv6 compressed and in brackets. An IPv4 address is accepted only in
 * its dotted decimal form: resolvers also read `127.1`, `0x7f000001` and `[::ffff:127.0.0.1]` as addresses, each in its own
 * way, so these forms are refused.
 * @param written one character per byte (latin1), with brackets, without port.
 * @returns the host, or `{problem}`.
 */
export function canonicalHost(written: string): string | { readonly problem: HostProblem } {
  // Clients escape the name as a part of their path. Escaped ASCII would be misleading, and stays, which refuses the host.
  const text = written.includes('%') ? written.replace(ESCAPED_BYTE, unescapeByte) : written
  if (text === '' || text === '.') return { problem: 'missing_host' }
  if (text.startsWith('[')) return canonicalIPv6(text)
  let host = text.toLowerCase()
  if (!isAscii(host) || host.includes('xn--')) {
    const bytes = Buffer.from(text, 'latin1')
    if (text.includes('%') || !isUtf8(bytes)) return { problem: 'bad_host' }
    host = asciiHost(bytes.toString('utf8'))
    if (!host.split('.').every(isReadableLabel)) return { problem: 'bad_host' }
  }
  if (host.endsWith('.')) host = host.slice(0, -1)
  return hostProblem(host) ?? host
}

/** Newer releases of Node keep a label that begins with `xn--` and is not Punycode; older ones refuse the host. */
function isReadableLabel(label: string): boolean {
  if (!label.startsWith('xn--')) return true
  const name = unicodeHost(label)
  return name !== label && asciiHost(name) === label
}

function hostProblem(host: string): { readonly problem: HostProblem } | null {
  if (host === '' || host.length > HOST_LENGTH_LIMIT) return { problem: 'bad_host' }
  let start = 0
  for (let i = 0; i <= host.length; i++) {
    const c = i === host.length ? 0x2e : host.charCodeAt(i)
    if (c === 0x2e) {
      if (i === start || i - start > LABEL_LENGTH_LIMIT) return { problem: 'bad_host' }
      if (i < host.length) start = i + 1
    } else if (!isHostCharacter(c)) {
      return { problem: 'bad_host' }
    }
  }
  const first = host.charCodeAt(start)
  const isNumber = first >= 0x30 && first <= 0x39 && NUMBER_LABEL.test(host.slice(start))
  return isNumber && !DOTTED_QUAD.test(host) ? { problem: 'ip_spelling' } : null
}

/** Letters, digits, hyphens, and underscores, which occur in real names. */
function isHostCharacter(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x5f
}

function canonicalIPv6(text: string): string | { readonly problem: HostProblem } {
  const inner = text.slice(1, -1)
  if (!text.endsWith(']') || !isIPv6(inner)) return { problem: 'bad_host' }
  // A zone names an interface of this machine; a dot means an embedded IPv4 address.
  if (inner.includes('%')) return { problem: 'bad_host' }
  const host = knownUrl(`http://${text}/`).hostname
  return inner.includes('.') || host.startsWith('[::ffff:') ? { problem: 'ip_spelling' } : host
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}
