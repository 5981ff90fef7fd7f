import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'

export type ListenerKind = 'api' | 'envoy'

/** In which the gate passes on the address of the caller; on a port it counts for nothing. */
export const CLIENT_ADDRESS = 'x-agw-client-address'

/**
 * The address of the caller. Envoy alone can reach its socket and overwrites `x-envoy-external-address` there;
 * on the other listener a forwarded address is a claim of the caller and counts for nothing (threat model, rule 6).
 */
export function sourceAddress(request: IncomingMessage, listener: ListenerKind): string | null {
  if (listener === 'api')
    return plainAddress(
      request.socket.remoteAddress ?? String(request.headers[CLIENT_ADDRESS] ?? ''),
    )
  const forwarded = request.headers['x-envoy-external-address']
  return typeof forwarded === 'string' ? plainAddress(forwarded.trim()) : null
}

/** An IPv4 address that came through an IPv6 socket is written as IPv4. */
function plainAddress(text: string): string | null {
  const address =
    text.toLowerCase().startsWith('::ffff:') && text.includes('.') ? text.slice(7) : text
  return isIP(address) > 0 ? address : null
}
