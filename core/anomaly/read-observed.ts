import type { ActivityEntry } from '../activity/activity-entry.ts'
import { readAllowedLine } from '../activity/allowed-line.ts'

/** The members of an activity entry that the analysis uses. */
export type ObservedEntry = Pick<
  ActivityEntry,
  | 'timestamp'
  | 'event'
  | 'agent_id'
  | 'scope_id'
  | 'integration_id'
  | 'method'
  | 'endpoint'
  | 'status'
  | 'decision'
  | 'reason'
  | 'source_ip'
  | 'bytes_in'
  | 'bytes_out'
  | 'data'
>

const NO_DATA = {}

/**
 * What the analysis uses of an entry. Nearly all entries are allowed calls, and parsing one as JSON takes longer than scoring it, so
 * the usual form is matched as text. Nothing in `data` of an allowed call matters here.
 * @throws if the text is not JSON
 */
export function readObserved(text: string): ObservedEntry {
  const line = readAllowedLine(text)
  if (line === null) return JSON.parse(text) as ActivityEntry
  return {
    event: 'request_allowed',
    decision: 'allowed',
    reason: null,
    data: NO_DATA,
    status: Number(line.status),
    bytes_in: Number(line.bytes_in),
    bytes_out: Number(line.bytes_out),
    timestamp: line.timestamp,
    agent_id: line.agent_id,
    integration_id: line.integration_id,
    scope_id: line.scope_id,
    method: line.method,
    endpoint: line.endpoint,
    source_ip: line.source_ip,
  }
}
