import type { EventName } from '../catalogue/events.ts'
import type { ActivityEntry } from './activity-entry.ts'
import { mintActivityId } from './activity-id.ts'

interface About {
  readonly event: EventName
  readonly organization_id: string
  readonly agent_id: string | null
  /** Null if it is unknown because the agent was deleted. */
  readonly agent_name: string | null
  readonly timestamp: string
  readonly actor: Pick<ActivityEntry, 'source_ip' | 'request_id' | 'edge_id'>
  readonly data: Readonly<Record<string, unknown>>
  readonly id?: string
}

/** An activity entry that does not describe a call: the members of calls are null. */
export function entryOfNoCall(about: About): ActivityEntry {
  const { event, organization_id, agent_id, agent_name, timestamp, actor, data } = about
  return {
    id: about.id ?? mintActivityId(Date.parse(timestamp)),
    timestamp,
    event,
    organization_id,
    agent_id,
    agent_name,
    key_id: null,
    integration_id: null,
    scope_id: null,
    rule: null,
    method: null,
    endpoint: null,
    status: null,
    decision: null,
    reason: null,
    source_ip: actor.source_ip,
    request_id: actor.request_id,
    edge_id: actor.edge_id,
    steps: [],
    duration_ms: null,
    bytes_in: null,
    bytes_out: null,
    data,
  }
}
