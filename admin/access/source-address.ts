import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { forwardedAddress } from '../../core/request/forwarded-address.ts'

export type ListenerKind = 'api' | 'envoy'

/** In which the gate passes on the address of the caller; on a port it counts for nothing. */
export const CLIENT_ADDRESS = 'x-agw-client-address'

/**
 * The address of the caller. Envoy alone can reach its socket and overwrites `x-envoy-external-address` there;
 * on the other listener a forwarded address is a claim of the caller and counts for nothing (threat model, rule 6).
 * @param trusted_hops proxies in front of Envoy whose `X-Forwarded-For` is believed
 */
export function sourceAddress(
  request: IncomingMessage,
  listener: ListenerKind,
  trusted_hops = 0,
): string | null {
  if (listener === 'api')
    return plainAddress(
      request.socket.remoteAddress ?? String(request.headers[CLIENT_ADDRESS] ?? ''),
    )
  const { 'x-envoy-external-address': external, 'x-forwarded-for': forwarded_for = '' } =
    request.headers
  const forwarded = forwardedAddress(String(forwarded_for), trusted_hops)
  return forwarded ?? (typeof external === 'string' ? plainAddress(external.trim()) : null)
}

/** An IPv4 address that came through an IPv6 socket is written as IPv4. */
function plainAddress(text: string): string | null {
  const address =
    text.toLowerCase().startsWith('::ffff:') && text.includes('.') ? text.slice(7) : text
  return isIP(address) > 0 ? address : null
}
