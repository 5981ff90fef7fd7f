import type { ActivityEntry } from '../activity/activity-entry.ts'

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

const TEXT = '"([^"\\\\]*)"'
const ANY = '(?:null|"[^"\\\\]*")'
/** An allowed call as the access-log receiver writes it: the members in this order, and no escaped character in those that are read. */
const ALLOWED = new RegExp(
  `^{"id":${ANY},"event":"request_allowed","status":(\\d{3}),"decision":"allowed","reason":null,"duration_ms":[\\d.]+` +
    `,"bytes_in":(\\d{1,15}),"bytes_out":(\\d{1,15}),"timestamp":${TEXT},"organization_id":${ANY},"agent_id":${TEXT}` +
    `,"agent_name":${ANY},"key_id":${ANY},"integration_id":${TEXT},"scope_id":${TEXT},"rule":(?:null|\\d+)` +
    `,"method":${TEXT},"endpoint":${TEXT},"source_ip":${TEXT},"request_id":`,
)
const NO_DATA = {}

/**
 * What the analysis uses of an entry. Nearly all entries are allowed calls, and parsing one as JSON takes longer than scoring it, so
 * the usual form is matched as text. Nothing in `data` of an allowed call matters here.
 * @throws if the text is not JSON
 */
export function readObserved(text: string): ObservedEntry {
  const found = ALLOWED.exec(text)
  if (found === null) return JSON.parse(text) as ActivityEntry
  return {
    event: 'request_allowed',
    decision: 'allowed',
    reason: null,
    data: NO_DATA,
    status: Number(found[1]),
    bytes_in: Number(found[2]),
    bytes_out: Number(found[3]),
    timestamp: found[4] ?? '',
    agent_id: found[5] ?? null,
    integration_id: found[6] ?? null,
    scope_id: found[7] ?? null,
    method: found[8] ?? null,
    endpoint: found[9] ?? null,
    source_ip: found[10] ?? null,
  }
}
