import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** The addresses of a host name, at least one, IPv4 first. @throws HostNotFound */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

export class HostNotFound extends Error {}

const HOSTS_FILE = '/etc/hosts'
/** Two tries of this length fit into an attempt. */
const DNS_TIMEOUT_MS = 2000
const DNS_TRIES = 2
/** More addresses than any name needs; each is checked. */
const ADDRESSES_MAX = 64

/**
 * Asks the hosts file, then DNS. Not `getaddrinfo`: its lookups share four threads with the rest of the process, so four names
 * whose servers do not respond would block all others.
 * @param servers `address:port` of DNS servers; the system's if empty
 */
export function createHostResolver(servers: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  if (servers.length > 0) resolver.setServers(servers)
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '').toLowerCase()
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const listed = await fromHostsFile(name)
    if (listed.length > 0) return listed
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = [...addressesOf(v4), ...addressesOf(v6)].slice(0, ADDRESSES_MAX)
    if (found.length === 0) throw new HostNotFound(`no address of ${name} was found`)
    return found
  }
}

const addressesOf = (answer: PromiseSettledResult<string[]>): readonly string[] =>
  answer.status === 'fulfilled' ? answer.value : []

async function fromHostsFile(name: string): Promise<string[]> {
  const text = await readFile(HOSTS_FILE, 'utf8').catch(() => '')
  const found: string[] = []
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) > 0 && names.some((listed) => listed.toLowerCase() === name))
      found.push(address)
  }
  return found.sort((a, b) => isIP(a) - isIP(b)).slice(0, ADDRESSES_MAX)
}
