import { isIP, isIPv6 } from 'node:net'
import { knownUrl } from '../bounded/parse-url.ts'

/** An address with a port, an IPv6 address in brackets, or both. */
const WITH_PORT = /^"?(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([0-9a-f:.]{2,45})\](?::\d{1,5})?)"?$/i

/**
 * The address of one entry of `X-Forwarded-For` that has a port or brackets, which Envoy does not read: it takes the address of
 * the proxy instead. Null for every other text, also for a plain address, which Envoy reads.
 */
export function addressWithPort(entry: string): string | null {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry.trim()) ?? []
  const address = ipv4 ?? ipv6 ?? ''
  if (isIP(address) === 0) return null
  return isIPv6(address) ? knownUrl(`http://[${address}]/`).hostname.slice(1, -1) : address
}

/**
 * What the outermost of the trusted proxies says of its caller, if it says it with a port or in brackets; else null.
 * @param trusted_hops proxies in front of Envoy; each adds an entry at the end
 */
export function forwardedAddress(forwarded_for: string, trusted_hops: number): string | null {
  if (trusted_hops === 0) return null
  const entry = forwarded_for.split(',').at(-trusted_hops)
  return entry === undefined ? null : addressWithPort(entry)
}
