const TEXT = '"([^"\\\\]*)"'
const ANY = '(?:null|"[^"\\\\]*")'

/**
 * An allowed call as the access-log receiver writes it (ext-proc/access-log/line-of-call.ts): the members in this order, and no escaped
 * character in those before `edge_id`. Nearly all entries have this form, and matching it takes a fraction of the time for JSON.
 */
const ALLOWED = new RegExp(
  `^{"id":${TEXT},"event":"request_allowed","status":(\\d{3}),"decision":"allowed","reason":null,"duration_ms":[\\d.]+` +
    `,"bytes_in":(\\d{1,15}),"bytes_out":(\\d{1,15}),"timestamp":${TEXT},"organization_id":${ANY},"agent_id":${TEXT}` +
    `,"agent_name":${ANY},"key_id":${ANY},"integration_id":${TEXT},"scope_id":${TEXT},"rule":(?:null|\\d+)` +
    `,"method":${TEXT},"endpoint":${TEXT},"source_ip":${TEXT},"request_id":${TEXT},`,
)

export interface AllowedLine {
  /** Length of the text up to the last of these members. */
  readonly length: number
  readonly id: string
  readonly status: string
  readonly bytes_in: string
  readonly bytes_out: string
  readonly timestamp: string
  readonly agent_id: string
  readonly integration_id: string
  readonly scope_id: string
  readonly method: string
  readonly endpoint: string
  readonly source_ip: string
  readonly request_id: string
}

/** Null if the text has another form; it may be an entry all the same. */
export function readAllowedLine(text: string): AllowedLine | null {
  const found = ALLOWED.exec(text)
  if (found === null) return null
  const part = (n: number): string => found[n] ?? ''
  return {
    length: found[0].length,
    id: part(1),
    status: part(2),
    bytes_in: part(3),
    bytes_out: part(4),
    timestamp: part(5),
    agent_id: part(6),
    integration_id: part(7),
    scope_id: part(8),
    method: part(9),
    endpoint: part(10),
    source_ip: part(11),
    request_id: part(12),
  }
}
