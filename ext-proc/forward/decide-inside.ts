import type { Header } from '../../core/request/header.ts'
import type { CallIo } from '../call/call-io.ts'
import { decideCall, type DecisionServices } from '../call/decide-call.ts'
import type { ProxiedCall } from '../call/proxied-call.ts'
import type { CallRecord } from '../record/call-record.ts'
import { headerOf } from '../verdict/response-inspector.ts'
import { deny } from '../verdict/step.ts'
import type { Verdict } from '../verdict/verdict.ts'
import { canonicalName } from './canonical-name.ts'
import { proxiedHeaders } from './proxied-headers.ts'
import { readAuthority } from './read-authority.ts'
import type { TunnelFacts, TunnelSeal } from './tunnel-seal.ts'

/**
 * Decides a call inside a tunnel. The target is the tunnel's host and port, with the scheme that the connection has: neither
 * `Host` nor the server name of TLS can choose another. All else is decided as for a call by base URL.
 * @throws (rejects) on a bug or an outage; the call is then refused
 */
export async function decideInside(
  services: DecisionServices & { readonly seal: TunnelSeal } & Pick<ProxiedCall, 'closed_hosts'>,
  scheme: 'https' | 'http',
  headers: readonly Header[],
  io: CallIo,
  record: CallRecord,
): Promise<Verdict> {
  record.facts.data['via'] = 'forward'
  const tunnel = services.seal.read(headerOf(headers, 'x-agw-tunnel') ?? '')
  if (tunnel === null) return deny('target', 'gateway_unavailable', { cause: 'no tunnel' })
  const { organization_id, agent_id } = tunnel
  record.facts.organization_id = organization_id
  record.facts.agent_id = agent_id
  const misdirected = findMisdirection(tunnel, scheme, headers)
  if (misdirected !== null) return deny('target', 'misdirected_request', misdirected)
  const { host, port, key_hash, is_named } = tunnel
  const call = proxiedHeaders(headers, {
    origin: `${scheme}://${host}:${port}`,
    agent_id: is_named ? agent_id : null,
  })
  const { closed_hosts } = services
  return await decideCall(services, call, io, record, { key_hash, closed_hosts })
}

/** Which host the request names, if it is not that of the tunnel; null if all agree. */
function findMisdirection(
  { host, port }: TunnelFacts,
  scheme: 'https' | 'http',
  headers: readonly Header[],
): Readonly<Record<string, string>> | null {
  const authority = readAuthority(headers, scheme === 'https' ? 443 : 80)
  const isHost = typeof authority !== 'string' && authority.host === host && authority.port === port
  const server_name = scheme === 'https' ? (headerOf(headers, 'x-agw-sni') ?? '') : null
  const isName = server_name === null || canonicalName(server_name) === host
  if (isHost && isName) return null
  return {
    host: headerOf(headers, ':authority') ?? '',
    ...(server_name === null ? {} : { server_name }),
    tunnel: `${host}:${port}`,
  }
}
