import type { ActivityEntry } from './activity-entry.ts'
import { entryOfNoCall } from './entry-of-no-call.ts'
import type { Connection } from '../catalogue/model.ts'

interface By {
  readonly timestamp: string
  /** E-mail of the operator; null if the gateway itself has changed it. */
  readonly email: string | null
  readonly source_ip: string | null
  readonly request_id: string | null
}

/** The event `connection_changed`. It has no part of the credential. */
export function connectionEvent(
  { organization_id, integration_id, connection_id, name, subject, status }: Connection,
  change: 'created' | 'updated' | 'deleted',
  { timestamp, email, source_ip, request_id }: By,
): ActivityEntry {
  const agent_id = subject.startsWith('agent:') ? subject.slice('agent:'.length) : null
  return {
    ...entryOfNoCall({
      event: 'connection_changed',
      organization_id,
      agent_id,
      agent_name: null,
      timestamp,
      actor: { source_ip, request_id, edge_id: null },
      data: {
        connection_id,
        integration_id,
        name,
        subject,
        status,
        change,
        triggered_by: email ?? 'system',
      },
    }),
    integration_id,
  }
}
