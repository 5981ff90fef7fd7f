import type { Header } from '../../core/request/header.ts'
import { targetProblemDetails } from '../../core/request/target-problem-details.ts'
import type { CallIo } from '../call/call-io.ts'
import { causeOf } from '../call/cause-of.ts'
import { decideCall, type DecisionServices } from '../call/decide-call.ts'
import type { ProxiedCall } from '../call/proxied-call.ts'
import type { CallRecord } from '../record/call-record.ts'
import { headerOf } from '../verdict/response-inspector.ts'
import { deny } from '../verdict/step.ts'
import type { Verdict } from '../verdict/verdict.ts'
import { decideTunnel, findProxyCaller, type TunnelServices } from './decide-tunnel.ts'
import { proxiedHeaders } from './proxied-headers.ts'
import { readAuthority } from './read-authority.ts'

/**
 * Decides a request to the forward proxy itself: a CONNECT, or a call of a plain `http://` URL in its absolute form.
 * @throws (rejects) on a bug or an outage; the request is then refused
 */
export async function decideEntry(
  services: DecisionServices & TunnelServices & Pick<ProxiedCall, 'closed_hosts'>,
  headers: readonly Header[],
  io: CallIo,
  record: CallRecord,
): Promise<Verdict> {
  record.facts.data['via'] = 'forward'
  const { mayServe, whyUnavailable } = services
  if (!mayServe()) return deny('lease', 'gateway_unavailable', causeOf(whyUnavailable(null)))
  const found = await findProxyCaller(services, headers, record)
  if (found.kind === 'deny') return found
  if (headerOf(headers, ':method') === 'CONNECT')
    return await decideTunnel(services, found.caller, headers, io, record)
  const { key, agent_id } = found.caller
  const authority = readAuthority(headers, 80)
  if (typeof authority === 'string')
    return deny('target', 'invalid_target_url', targetProblemDetails(authority))
  const call = proxiedHeaders(headers, {
    origin: `http://${authority.host}:${authority.port}`,
    agent_id: key.agent_id === null ? agent_id : null,
  })
  const { closed_hosts } = services
  return await decideCall(services, call, io, record, { key_hash: key.hash, closed_hosts })
}
