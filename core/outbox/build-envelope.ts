import type { ActivityEntry } from '../activity/activity-entry.ts'
import type { SubscribableEvent } from './subscribable-events.ts'

/** What a receiver gets (contract §6). Its JSON is made once, and every attempt sends the same bytes. */
export interface Envelope {
  readonly id: string
  readonly event: string
  readonly timestamp: string
  readonly organization_id: string
  readonly agent_id: string | null
  readonly agent_name: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The members that `data` always has, so that a receiver can rely on them; null where the entry has none. */
const MEMBERS: Readonly<Record<SubscribableEvent, readonly string[]>> = {
  injection_blocked: [
    'pattern_name',
    'severity',
    'matched_text',
    'location',
    'endpoint',
    'source_ip',
  ],
  injection_detected: [
    'pattern_name',
    'severity',
    'matched_text',
    'location',
    'endpoint',
    'source_ip',
  ],
  agent_killed: [
    'reason',
    'triggered_by',
    'kill_method',
    'requests_terminated',
    'propagation_ms',
    'metadata',
  ],
  agent_reactivated: ['reason', 'triggered_by'],
  anomaly_detected: ['anomaly_score', 'anomaly_types', 'baseline_deviation', 'action_taken'],
  permission_denied: ['attempted_action', 'service', 'reason', 'agent_scopes'],
  rate_limit_exceeded: [
    'service',
    'endpoint',
    'limit',
    'current_rpm',
    'retry_after_seconds',
    'violation_minutes',
    'suppressed',
    'action_taken',
  ],
  mcp_tool_blocked: ['tool_name', 'service', 'endpoint', 'reason', 'agent_scopes'],
}

/** The envelope of an activity entry; what `data` lacks and the entry has under the same name is taken from there. */
export function buildEnvelope(entry: ActivityEntry): Envelope {
  const { id, event, timestamp, organization_id, agent_id, agent_name } = entry
  const members = event in MEMBERS ? MEMBERS[event as SubscribableEvent] : []
  const fromEntry: Readonly<Record<string, unknown>> = {
    endpoint: entry.endpoint,
    source_ip: entry.source_ip,
    suppressed: 0,
  }
  const data = Object.fromEntries(members.map((name) => [name, fromEntry[name] ?? null]))
  for (const [name, value] of Object.entries(entry.data))
    if (value !== undefined) data[name] = value
  return { id, event, timestamp, organization_id, agent_id, agent_name, data }
}
