import { buildConnector } from 'undici'
import { type AddressPolicy, literalAddress } from '../../core/egress/address-policy.ts'
import { allowedAddresses } from '../../core/egress/allowed-addresses.ts'
import { checkProxiedHost, type EgressProxy } from '../../core/egress/egress-proxy.ts'
import { tunnelConnector } from '../../core/egress/open-tunnel.ts'
import type { ResolveHost } from '../../core/egress/resolve-host.ts'

/** A receiver with several addresses is tried at so many of them, one after the other. */
const ADDRESSES_TRIED = 3
/** Connections are not kept, sessions are: 440 deliveries a second with them, 250 without (bench/webhooks.ts). */
const TLS_SESSIONS_MAX = 100
/** Leaves time for another address within an attempt. */
const CONNECT_TIMEOUT_MS = 4000

/**
 * Connects to an address that was checked, and to no other: the name is resolved once, and the connection goes by number
 * to one of its addresses that are allowed, so that a second resolution cannot differ. TLS is checked against the name. Literals are
 * checked the same way (undici's own `lookup` hook is not called for them). The egress proxy connects by name.
 */
export function pinnedConnector(
  policy: AddressPolicy,
  resolve: ResolveHost,
  proxy: EgressProxy | null = null,
  ca_certificates: string | null = null,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    maxCachedSessions: TLS_SESSIONS_MAX,
    keepAlive: false,
    ...(ca_certificates === null ? {} : { ca: ca_certificates }),
  })
  const open = (options: buildConnector.Options): Promise<buildConnector.CallbackArgs> =>
    new Promise((done) => {
      connect(options, (...answer: buildConnector.CallbackArgs) => done(answer))
    })
  const openFirst = async (
    options: buildConnector.Options,
  ): Promise<buildConnector.CallbackArgs> => {
    const { hostname } = options
    const servername = serverNameOf(hostname)
    let answer: buildConnector.CallbackArgs = [new Error('no address'), null]
    try {
      const addresses = await allowedAddresses(hostname, policy, resolve)
      for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
        answer = await open({ ...options, hostname: address, host: address, servername })
        if (answer[0] === null) break
      }
    } catch (error) {
      answer = [error instanceof Error ? error : new Error(String(error)), null]
    }
    return answer
  }
  const pinned: buildConnector.connector = (options, callback) => {
    const connectAndCall = async (): Promise<void> => callback(...(await openFirst(options)))
    void connectAndCall()
  }
  if (proxy === null) return pinned
  const direct: buildConnector.connector = (options, callback) =>
    options.httpSocket === undefined
      ? pinned(options, callback)
      : connect({ ...options, servername: serverNameOf(options.hostname) }, callback)
  return tunnelConnector(proxy, direct, CONNECT_TIMEOUT_MS, (hostname) =>
    checkProxiedHost(proxy, hostname, policy, resolve),
  )
}

/** An address literal has no server name; its certificate must name the address. */
const serverNameOf = (hostname: string): string =>
  literalAddress(hostname) === null ? hostname.replace(/\.$/, '') : ''
