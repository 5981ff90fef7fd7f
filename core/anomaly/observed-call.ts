import type { ActivityEntry } from '../activity/activity-entry.ts'
import { isFloodEntry } from '../activity/flood-entry.ts'

/** What the anomaly model needs to know of one call. */
export interface ObservedCall {
  readonly agent_id: string
  /** null for a refusal that no scope governs. */
  readonly scope_id: string | null
  readonly integration_id: string | null
  readonly method: string
  readonly endpoint: string
  readonly outcome: 'passed' | 'failed' | 'denied'
  readonly source_ip: string | null
  readonly bytes_in: number
  readonly bytes_out: number
}

const CALL_EVENTS: ReadonlySet<string> = new Set([
  'request_allowed',
  'request_rejected',
  'injection_blocked',
  'injection_detected',
  'permission_denied',
  'rate_limit_exceeded',
  'mcp_tool_blocked',
])

/** Refusals that say nothing about the agent: it is switched off, or the gateway itself is at fault. */
const NOT_THE_AGENT: ReadonlySet<string> = new Set([
  'agent_killed',
  'gateway_unavailable',
  'credential_unavailable',
])

/** Calls that were let through and that the upstream did not answer. */
const FAILURES: ReadonlySet<string> = new Set(['upstream_unreachable', 'upstream_timeout'])

const FIRST_ERROR_STATUS = 400

/** The call that an activity entry tells of, or null where the entry is no call of a known agent. */
export function observedCall(entry: ActivityEntry): ObservedCall | null {
  if (entry.agent_id === null || !CALL_EVENTS.has(entry.event) || isFloodEntry(entry)) return null
  if (entry.reason !== null && NOT_THE_AGENT.has(entry.reason)) return null
  // A key that was revoked or has expired may have leaked: what is done with it says nothing about the agent.
  if (entry.data['key_state'] !== undefined) return null
  return {
    agent_id: entry.agent_id,
    scope_id: entry.scope_id,
    integration_id: entry.integration_id,
    method: entry.method ?? '',
    endpoint: entry.endpoint ?? '',
    outcome: outcomeOf(entry),
    source_ip: entry.source_ip,
    bytes_in: entry.bytes_in ?? 0,
    bytes_out: entry.bytes_out ?? 0,
  }
}

function outcomeOf({ reason, decision, status }: ActivityEntry): ObservedCall['outcome'] {
  if (reason !== null && FAILURES.has(reason)) return 'failed'
  if (decision === 'blocked') return 'denied'
  return status !== null && status >= FIRST_ERROR_STATUS ? 'failed' : 'passed'
}
