import { hostname, networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { parseUrl } from '../../core/bounded/parse-url.ts'

/** How callers may name this gateway, apart from what a call itself says. */
export interface GatewayAddress {
  /** Where its listeners are bound, in lower case; a wildcard stands for every address of this machine. */
  readonly hosts: readonly string[]
  readonly ports: readonly number[]
  /** How agents reach it (`AGW_PROXY_URL`), without a trailing slash; null if that is not set. */
  readonly proxy_url: string | null
}

/** How the caller of one call named it: `Host`, and what a proxy in front says of it. */
export interface CalledNames {
  readonly authority: string
  readonly scheme: 'http' | 'https'
  readonly forwarded_host: string | null
}

/** How the caller reaches the gateway; empty if it addresses the API itself. */
export const gatewayUrl = (
  { proxy_url }: Pick<GatewayAddress, 'proxy_url'>,
  { scheme, authority }: Pick<CalledNames, 'scheme' | 'authority'>,
  is_proxied: boolean,
): string => proxy_url ?? (is_proxied ? '' : `${scheme}://${authority}`)

interface Name {
  readonly host: string
  readonly ports: readonly number[]
}

/**
 * Whether a client that follows `url` comes back to this gateway: by the name it called, or by one of this machine.
 * A name that only DNS knows to be the gateway's cannot be seen here; `isTargetPath` refuses what it could be used for.
 */
export function isGatewayAddress(
  url: URL,
  called: CalledNames,
  { hosts, ports }: GatewayAddress,
  target: CalledApi,
): boolean {
  const host = plainHost(url.hostname)
  const port = Number(url.port || defaultPort(url.protocol))
  const names = namesOf(called, target)
  if (names === null) return true
  if (names.some((name) => name.host === host && [...name.ports, ...ports].includes(port)))
    return true
  const here = [...ports, ...names.flatMap((name) => (isHere(name.host, hosts) ? name.ports : []))]
  return here.includes(port) && isHere(host, hosts)
}

/**
 * Whether clients take a URL's host for the one they called, whatever the port: a name by which the gateway was called,
 * or one below it. Several send `Authorization` along to these (Go, superagent, follow-redirects).
 */
export function sharesGatewayHost(url: URL, called: CalledNames, target: CalledApi): boolean {
  const host = plainHost(url.hostname)
  const names = namesOf(called, target)
  return (
    names === null ||
    names.some(
      (name) =>
        host === name.host || (!ipaddr.isValid(name.host) && host.endsWith(`.${name.host}`)),
    )
  )
}

/** The API that was called; the gateway may be at another port of its host. */
interface CalledApi {
  readonly host: string
  readonly port: number
}

/** More than there are proxies in front. A caller that sends more gets no redirect to another host. */
const NAMES_MAX = 16
/** A response may have many references, each of which is compared with them. */
const namesRead = new WeakMap<CalledNames, readonly Name[] | null>()

/** Null if there are too many. */
function namesOf(called: CalledNames, target: CalledApi): readonly Name[] | null {
  let names = namesRead.get(called)
  if (names === undefined) {
    const written = [called.authority, ...(called.forwarded_host?.split(',', NAMES_MAX) ?? [])]
    names = written.length > NAMES_MAX ? null : written.flatMap(readAuthority)
    namesRead.set(called, names)
  }
  const apiHost = plainHost(target.host)
  return (
    names?.filter(({ host, ports }) => host !== apiHost || !ports.includes(target.port)) ?? null
  )
}

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443, 'ws:': 80, 'wss:': 443 } as const
const defaultPort = (protocol: string): number =>
  DEFAULT_PORTS[protocol as keyof typeof DEFAULT_PORTS] ?? 0

/** Whether an authority is that of the API: some clients send it as `Host` to the gateway. */
export const namesApi = (authority: string, { host, port }: CalledApi): boolean =>
  readAuthority(authority).some(
    (name) => name.host === plainHost(host) && name.ports.includes(port),
  )

/** Without a port it may be either default: a proxy in front may speak TLS. */
function readAuthority(text: string): Name[] {
  const url = parseUrl(`http://${text.trim()}`)
  if (url === null) return []
  const port = /:(\d{1,5})$/.exec(text.trim())?.[1]
  return [{ host: plainHost(url.hostname), ports: port === undefined ? [80, 443] : [Number(port)] }]
}

const LOCAL_NAME = /^(?:.+\.)?localhost(?:\.localdomain)?$|^ip6-(?:localhost|loopback)$/

/** Whether a host is this machine, as far as that is known without DNS. */
function isHere(host: string, bound: readonly string[]): boolean {
  if (LOCAL_NAME.test(host) || bound.includes(host)) return true
  const isAddress = ipaddr.isValid(host)
  if (isAddress && ['loopback', 'unspecified'].includes(ipaddr.parse(host).range())) return true
  if (isAddress && host.startsWith('0.')) return true
  if (!bound.some((one) => one === '0.0.0.0' || one === '::')) return false
  // Read when it is asked, which is rare: addresses come and go.
  if (!isAddress) return host === hostname().toLowerCase()
  return Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => plainHost(address) === host),
  )
}

const MAPPED = ['::ffff:0:0/96', '64:ff9b::/96', '::/96'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
)

/** Lower case, without brackets and final dots; an IPv4 address inside an IPv6 one as IPv4. */
function plainHost(hostname: string): string {
  const host = hostname.toLowerCase().replace(/^\[|\]$|(?<!\.)\.+$/g, '')
  if (!host.includes(':') || !ipaddr.IPv6.isValid(host)) return host
  const address = ipaddr.IPv6.parse(host)
  const bytes = address.toByteArray()
  const isMapped = MAPPED.some((range) => address.match(range)) && bytes.slice(12).some(Boolean)
  const isLoopback = address.range() === 'loopback'
  return isMapped && !isLoopback ? bytes.slice(12).join('.') : address.toString()
}
