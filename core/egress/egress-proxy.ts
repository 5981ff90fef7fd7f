import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Secret } from '../keys/secret.ts'
import { type AddressPolicy, literalAddress } from './address-policy.ts'
import { AddressRefused, allowedAddresses } from './allowed-addresses.ts'
import { readProxyUrl } from './read-proxy-url.ts'
import type { ResolveHost } from './resolve-host.ts'

/** The HTTP proxy of the network, through which the gateway connects to the internet with CONNECT. */
export interface EgressProxy {
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** The value of `Proxy-Authorization`; null for a proxy that wants none. */
  readonly authorization: Secret | null
  /** Whether the proxy refuses private addresses, because names cannot be resolved here. */
  readonly resolves: boolean
  /** Whether connections to a host, as a URL spells it, do not use the proxy. */
  readonly isExcepted: (hostname: string, port: number) => boolean
}

/** Of the settings of a process. */
export interface EgressProxySettings {
  readonly egressProxy: string | null
  readonly egressNoProxy: readonly string[]
  readonly egressProxyResolves: boolean
}

/** Null if the gateway connects directly. */
export function egressProxyOf(settings: EgressProxySettings): EgressProxy | null {
  const parts = settings.egressProxy === null ? null : readProxyUrl(settings.egressProxy)
  if (parts === null) return null
  const { host, port, user, password } = parts
  const basic = Buffer.from(`${user}:${password}`, 'utf8').toString('base64')
  const exceptions = settings.egressNoProxy.map(exceptionOf)
  return {
    host,
    port,
    authorization: user === '' && password === '' ? null : new Secret(`Basic ${basic}`),
    resolves: settings.egressProxyResolves,
    isExcepted: (hostname, to) => {
      const name = hostname.replace(/\.$/, '').toLowerCase()
      return isLoopback(name) || exceptions.some((matches) => matches(name, to))
    },
  }
}

/** At a proxy they would be another machine. */
function isLoopback(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  const literal = literalAddress(name)
  return literal !== null && ipaddr.parse(literal).range() === 'loopback'
}

type Exception = (name: string, port: number) => boolean

/** An item of AGW_EGRESS_NO_PROXY, as `kinds.noProxyItem` accepts it. */
function exceptionOf(item: string): Exception {
  if (item === '*') return () => true
  const range = rangeOf(item)
  if (range !== null) return (name) => isWithin(name, range)
  const [, host = '', only] = /^(.*?)(?::(\d+))?$/.exec(item) ?? []
  const matches = isHost(host.toLowerCase())
  return (name, port) => (only === undefined || Number(only) === port) && matches(name)
}

function isHost(host: string): (name: string) => boolean {
  const literal = literalAddress(host)
  if (literal !== null) {
    const range = rangeOf(literal)
    return (name) => range !== null && isWithin(name, range)
  }
  const suffix = host.replace(/^\*?\./, '.')
  return suffix.startsWith('.')
    ? (name) => name.endsWith(suffix)
    : (name) => name === suffix || name.endsWith(`.${suffix}`)
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

function rangeOf(item: string): Range | null {
  if (item.includes('/')) return ipaddr.isValidCIDR(item) ? ipaddr.parseCIDR(item) : null
  return isIP(item) > 0 ? ipaddr.parseCIDR(`${item}/${isIP(item) === 4 ? 32 : 128}`) : null
}

/** Names are not resolved for it. */
function isWithin(name: string, [network, length]: Range): boolean {
  const literal = literalAddress(name)
  if (literal === null) return false
  const address = ipaddr.parse(literal)
  return address.kind() === network.kind() && address.match(network as ipaddr.IPv4, length)
}

/**
 * Whether the proxy may be asked to connect to a host. It resolves the name again, so a name passes only if each of its addresses
 * is allowed. Where the proxy alone resolves names, only literals and names of metadata services are judged.
 * @throws AddressRefused, HostNotFound
 */
export async function checkProxiedHost(
  proxy: Pick<EgressProxy, 'resolves'>,
  hostname: string,
  policy: AddressPolicy,
  resolve: ResolveHost,
): Promise<void> {
  const refusal = policy.refusalOfHost(hostname)
  if (refusal !== null) throw new AddressRefused(`${hostname} is refused (${refusal})`)
  if (proxy.resolves || literalAddress(hostname) !== null) return
  const isAllowed = (address: string): boolean => policy.refusalOfAddress(address) === null
  let others: readonly string[] = []
  await allowedAddresses(hostname, policy, async (name) => {
    const found = await resolve(name)
    others = found.filter((address) => !isAllowed(address))
    return found
  })
  if (others.length > 0)
    throw new AddressRefused(`${hostname} is also at ${others.join(', ')}, which is not public`)
}
