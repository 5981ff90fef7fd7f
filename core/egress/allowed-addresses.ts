import { type AddressPolicy, literalAddress } from './address-policy.ts'
import type { ResolveHost } from './resolve-host.ts'

export class AddressRefused extends Error {}

/**
 * The allowed addresses of a URL's host, at least one. The caller connects to one of these addresses, so that a second
 * resolution cannot differ from the one that was checked. @throws AddressRefused if no address of the host is allowed,
 * HostNotFound if it has none
 */
export async function allowedAddresses(
  hostname: string,
  policy: AddressPolicy,
  resolve: ResolveHost,
): Promise<readonly string[]> {
  const literal = literalAddress(hostname)
  const found = literal === null ? await resolve(hostname) : [literal]
  const refusals = found.map(
    (address) => policy.refusalOfHost(hostname) ?? policy.refusalOfAddress(address),
  )
  const allowed = found.filter((_, i) => refusals[i] === null)
  if (allowed.length > 0) return allowed
  const why = found.map((address, i) => `${address} (${refusals[i]})`).join(', ')
  throw new AddressRefused(`${hostname} is at ${why}`)
}
