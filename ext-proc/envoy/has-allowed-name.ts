import type { X509Certificate } from 'node:crypto'
import ipaddr from 'ipaddr.js'

/** One entry of what Node shows of the extension; a value with characters of its own syntax is a JSON string. */
const ENTRY = /(?:^|, )(DNS|URI|IP Address):("(?:[^"\\]|\\.)*"|[^,"]*)(?=, |$)/g

/**
 * Whether a certificate has one of the names. Names are compared as a whole: a wildcard in a certificate is no other name. The
 * subject is ignored.
 * @param allowed none allows every certificate
 */
export function hasAllowedName(
  peer: Pick<X509Certificate, 'subjectAltName'> | undefined,
  allowed: readonly string[],
): boolean {
  if (allowed.length === 0) return true
  const wanted = new Set(allowed.map(normalized))
  for (const [, kind = '', value = ''] of (peer?.subjectAltName ?? '').matchAll(ENTRY)) {
    const text = value.startsWith('"') ? (JSON.parse(value) as string) : value
    const isUri = text.includes('://')
    // A DNS name that looks like a URI or an address is none.
    if ((kind === 'URI') === isUri && (kind === 'IP Address') === ipaddr.isValid(text))
      if (wanted.has(normalized(text))) return true
  }
  return false
}

function normalized(name: string): string {
  if (name.includes('://')) return name
  return ipaddr.isValid(name) ? ipaddr.parse(name).toString() : name.toLowerCase()
}
