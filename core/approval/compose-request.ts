import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import type { RequestedCall } from './access-request.ts'
import type { NewRequest, WantedApproval } from './take-approval.ts'

/** What is stored of a request besides its call. */
type More = Omit<NewRequest['fields'], 'digest' | 'grant_digest' | 'call' | 'valid_ms'>

/** A request as it is first stored, and its event. */
export function composeRequest(
  { organization_id, agent_id, digest, grant_digest, by, now }: WantedApproval,
  call: RequestedCall,
  more: More,
  valid_ms: number,
): NewRequest {
  const { agent_name, integration_name, source_ip, method, url } = call
  const { request_id, kind, approvers, needed } = more
  return {
    valid_ms,
    fields: {
      ...more,
      digest,
      grant_digest: grant_digest ?? '',
      call: JSON.stringify(call),
      valid_ms: String(valid_ms),
    },
    entry: entryOfNoCall({
      event: 'access_requested',
      organization_id,
      agent_id,
      agent_name,
      timestamp: now.toISOString(),
      actor: { source_ip, request_id: by.request_id, edge_id: by.edge_id || null },
      data: {
        request_id,
        kind,
        method,
        url,
        service: integration_name || null,
        digest,
        approvers,
        needed: Number(needed),
        expires_at: new Date(now.getTime() + valid_ms).toISOString(),
      },
    }),
  }
}
