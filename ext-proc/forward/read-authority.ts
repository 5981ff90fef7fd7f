import { isIP } from 'node:net'
import { canonicalHost, type HostProblem } from '../../core/request/canonical-host.ts'
import type { Header } from '../../core/request/header.ts'

export interface TunnelAuthority {
  /** In the canonical form of `canonicalHost`. */
  readonly host: string
  readonly port: number
}

const FORM = /^([^:@/?#[\]\s]+)(?::(\d{1,5}))?$/
const PORT_MAX = 65_535

/**
 * The host and port in `:authority`.
 * @param usual the port if none is there; null: it must be there, and the host must be a name, as for CONNECT
 */
export function readAuthority(
  headers: readonly Header[],
  usual: number | null,
): TunnelAuthority | HostProblem | 'bad_port' {
  const [first, second] = headers.filter(({ name }) => name === ':authority')
  if (first === undefined || second !== undefined) return 'missing_host'
  const parts = FORM.exec(first.value)
  if (parts === null) return 'bad_host'
  const [, text = '', digits] = parts
  const host = canonicalHost(text)
  if (typeof host !== 'string') return host.problem
  const port = digits === undefined ? usual : Number(digits)
  if (port === null || port < 1 || port > PORT_MAX) return 'bad_port'
  // No certificate can be issued for an address.
  if (usual === null && isIP(host) > 0) return 'bad_host'
  return { host, port }
}
