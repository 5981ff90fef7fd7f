import { isFloodEntry } from '../activity/is-flood-entry.ts'
import { eventRow } from '../catalogue/events.ts'
import { isReason, REASONS } from '../catalogue/reasons.ts'
import type { ObservedEntry } from './read-observed.ts'

/** The facts of a call that the anomaly model needs. */
export interface ObservedCall {
  readonly agent_id: string
  /** Null for a refusal without a scope. */
  readonly scope_id: string | null
  readonly integration_id: string | null
  readonly method: string
  readonly endpoint: string
  readonly outcome: 'passed' | 'failed' | 'denied'
  readonly source_ip: string | null
  readonly bytes_in: number
  readonly bytes_out: number
}

const FIRST_ERROR_STATUS = 400

/** The call of an activity entry, or null if the entry is not a call of a known agent. */
export function observedCall(entry: ObservedEntry): ObservedCall | null {
  if (entry.agent_id === null || isFloodEntry(entry)) return null
  if (eventRow(entry.event)?.reports_call !== true || anomalyOf(entry) === 'ignored') return null
  // A revoked or expired key may have leaked: its use says nothing about the agent.
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

const anomalyOf = ({ reason }: ObservedEntry): 'denied' | 'failed' | 'ignored' | null =>
  reason !== null && isReason(reason) ? REASONS[reason].anomaly : null

function outcomeOf(entry: ObservedEntry): ObservedCall['outcome'] {
  const { decision, status } = entry
  if (anomalyOf(entry) === 'failed') return 'failed'
  if (decision === 'blocked') return 'denied'
  return status !== null && status >= FIRST_ERROR_STATUS ? 'failed' : 'passed'
}
