import { errors } from 'undici'
import { AddressRefused } from './allowed-addresses.ts'
import { ProxyRefused } from './open-tunnel.ts'
import { HostNotFound } from './resolve-host.ts'

/** Why a request had no complete answer. */
type RequestFailure =
  | 'address_refused'
  | 'connection_failed'
  | 'connection_refused'
  | 'connection_reset'
  | 'dns_failed'
  | 'invalid_response'
  | 'proxy_refused'
  | 'timeout'
  | 'tls_failed'

const BY_CODE: ReadonlyArray<readonly [RegExp, RequestFailure]> = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'timeout'],
  // An answer that ends too early is one that was cut.
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_INVALID_EOF_STATE)$/,
    'connection_reset',
  ],
  [/^(HPE_|UND_ERR_HEADERS_OVERFLOW)/, 'invalid_response'],
  [
    /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CRL_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE|HOSTNAME_MISMATCH|EPROTO)/,
    'tls_failed',
  ],
]

/** The class of what made an attempt fail before its answer was complete. */
export function classifyFailure(failure: unknown): RequestFailure {
  if (failure instanceof AddressRefused) return 'address_refused'
  if (failure instanceof HostNotFound) return 'dns_failed'
  if (failure instanceof ProxyRefused) return 'proxy_refused'
  if (failure instanceof errors.HTTPParserError && !isCut(failure)) return 'invalid_response'
  const { code, message } = failure as { readonly code?: unknown; readonly message?: unknown }
  // Node says so when a peer hangs up before the handshake is complete.
  if (typeof message === 'string' && message.includes('before secure TLS connection'))
    return 'tls_failed'
  const text = typeof code === 'string' ? code : ''
  return BY_CODE.find(([pattern]) => pattern.test(text))?.[1] ?? 'connection_failed'
}

const isCut = ({ code }: { readonly code?: unknown }): boolean => code === 'HPE_INVALID_EOF_STATE'
