import { getPublicSuffix } from 'tldts'
import type { AlsoHost, Integration } from '../../core/catalogue/model.ts'
import { WILDCARD } from '../../core/decision/also-hosts.ts'
import { canonicalHost } from '../../core/request/canonical-host.ts'
import { parsePathPattern } from '../../core/decision/path-pattern.ts'
import type { Issue } from '../http/outcome.ts'
import { ALSO_HOST_DEFAULTS } from './integration-schemas.ts'

type Listing = Pick<Integration, 'also_hosts' | 'rewrite_headers'>

/** Entries with all their members. */
export const completeAlsoHosts = (
  entries: readonly (Partial<AlsoHost> & Pick<AlsoHost, 'host'>)[] = [],
): readonly AlsoHost[] => entries.map((entry) => ({ ...ALSO_HOST_DEFAULTS, ...entry }))

/** Headers that frame or protect a response; their values are no URLs. */
const NOT_REWRITTEN =
  /^(?:set-cookie|content-(?:length|type|encoding|range)|transfer-encoding|connection|x-agw-.*|:.*)$/

/** Checks the further hosts and headers of an integration beyond their schema. */
export function checkAlsoHosts({ also_hosts = [], rewrite_headers = [] }: Listing): Issue[] {
  const issues: Issue[] = []
  const hosts = new Set<string>()
  for (const [i, { host, paths, credential }] of also_hosts.entries()) {
    const message = hosts.has(host) ? 'is listed twice' : hostProblem(host)
    hosts.add(host)
    if (message !== null) issues.push({ path: `/also_hosts/${i}/host`, message })
    else if (credential && host.startsWith(WILDCARD))
      issues.push({
        path: `/also_hosts/${i}/credential`,
        message:
          'requires an exact host; a wildcard would send the credential to every host below it',
      })
    for (const [j, path] of paths.entries())
      if (typeof parsePathPattern(path) === 'string')
        issues.push({
          path: `/also_hosts/${i}/paths/${j}`,
          message: 'must be a path as in the rules of a scope, such as /** or /files/*',
        })
  }
  for (const [i, name] of rewrite_headers.entries())
    if (NOT_REWRITTEN.test(name))
      issues.push({ path: `/rewrite_headers/${i}`, message: 'is a header that holds no URL' })
  return issues
}

function hostProblem(text: string): string | null {
  const isWildcard = text.startsWith(WILDCARD)
  const [, name = '', port] = /^(.*?)(:\d{1,5})?$/.exec(isWildcard ? text.slice(2) : text) ?? []
  if (isWildcard && port !== undefined) return 'must have no port, since it has a wildcard'
  if (port !== undefined && (Number(port.slice(1)) > 65_535 || port === ':443'))
    return 'must have a port up to 65535 other than 443, or none'
  if (!name.includes('.') || /^[\d.]*$/.test(name) || name.startsWith('['))
    return 'must be a host name, such as downloads.example.com or *.example.com'
  const canonical = canonicalHost(Buffer.from(name).toString('latin1'))
  if (canonical !== name)
    return typeof canonical === 'string'
      ? `must be written ${isWildcard ? WILDCARD : ''}${canonical}${port ?? ''}`
      : 'must be a host name, such as downloads.example.com or *.example.com'
  // A wildcard there would open the hosts of everybody who has a name below it.
  if (isWildcard && getPublicSuffix(name) === name)
    return `must not have a wildcard right below ${name}, where anyone can register names`
  return null
}
