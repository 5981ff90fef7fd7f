import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Settings } from '../../core/settings/settings.ts'

/**
 * Whether the Host header of a request names this service. A web page of an attacker whose DNS name turns into our
 * address (DNS rebinding) reaches us from the browser of an operator, but always under that name. An IP address or
 * `localhost` cannot be such a name, so health checks and local tools need no setting.
 */
export function allowedHosts({
  apiHost,
  apiAllowedHosts,
}: Pick<Settings, 'apiHost' | 'apiAllowedHosts'>): (host: string | undefined) => boolean {
  const names = new Set([apiHost, hostname(), ...apiAllowedHosts].map(plainName))
  const suffixes = [...names].filter((name) => name.startsWith('*.')).map((name) => name.slice(1))
  return (host) => {
    // Only HTTP/1.0 clients omit it; browsers never do.
    if (host === undefined) return true
    const name = nameOf(host)
    if (name === null) return false
    return (
      isIP(name) > 0 ||
      name === 'localhost' ||
      name.endsWith('.localhost') ||
      names.has(name) ||
      suffixes.some((suffix) => name.endsWith(suffix))
    )
  }
}

const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** `name`, `name:port` or `[IPv6]:port`, without the port; null for anything else. */
const HOST = /^(?:\[([0-9a-f:.]{2,64})\]|([a-z0-9_.-]{1,255}))(?::\d{0,5})?$/i

function nameOf(host: string): string | null {
  const [, address, name] = HOST.exec(host) ?? []
  if (address !== undefined) return isIP(address) === 6 ? address : null
  return name === undefined ? null : plainName(name)
}
