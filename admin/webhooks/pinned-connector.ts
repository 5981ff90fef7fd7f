import { buildConnector } from 'undici'
import { type AddressPolicy, literalAddress } from './address-policy.ts'
import type { ResolveHost } from './resolve-host.ts'

export class AddressRefused extends Error {}

/** A receiver with several addresses is tried at so many of them, one after the other. */
const ADDRESSES_TRIED = 3
/** Leaves time for another address within an attempt. */
const CONNECT_TIMEOUT_MS = 4000

/**
 * Connects to an address that was checked, and to no other: the name is resolved once, and the connection goes by number
 * to one of its addresses that are allowed, so that a second resolution cannot differ. TLS is checked against the name. Literals are checked the same way (undici's own `lookup` hook is not called for them).
 */
export function pinnedConnector(
  policy: AddressPolicy,
  resolve: ResolveHost,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    maxCachedSessions: 0,
    keepAlive: false,
  })
  const open = (options: buildConnector.Options): Promise<buildConnector.CallbackArgs> =>
    new Promise((done) => {
      connect(options, (...answer: buildConnector.CallbackArgs) => done(answer))
    })
  return (options, callback) => {
    const openFirst = async (): Promise<buildConnector.CallbackArgs> => {
      const name = options.hostname
      const literal = literalAddress(name)
      const refusalOf = (address: string): string | null =>
        policy.refusalOfHost(name) ?? policy.refusalOfAddress(address)
      const found = literal === null ? await resolve(name) : [literal]
      const addresses = found.filter((address) => refusalOf(address) === null)
      if (addresses.length === 0)
        throw new AddressRefused(`${name} is at ${found.map((at) => `${at} (${refusalOf(at)})`)}`)
      // An address literal has no server name; its certificate must name the address.
      const servername = literal === null ? name.replace(/\.$/, '') : ''
      let answer: buildConnector.CallbackArgs = [new Error('no address'), null]
      for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
        answer = await open({ ...options, hostname: address, host: address, servername })
        if (answer[1] !== null) break
      }
      return answer
    }
    openFirst().then(
      (answer) => callback(...answer),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    )
  }
}
