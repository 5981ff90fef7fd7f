import { hostname } from 'node:os'
import type { OcsfEvent } from './ocsf-event.ts'

/** Receivers should accept messages of this size (RFC 5425); many cut longer ones. */
const MESSAGE_MAX_BYTES = 8_192
/** What is left of a long path in a message that would be too large. */
const PATH_LENGTH = 200

/** The facility "log audit". */
const FACILITY = 13
/** By severity of OCSF: informational, low (notice), medium (warning), high (error), critical. */
const SEVERITIES: Readonly<Record<OcsfEvent['severity_id'], number>> = {
  1: 6,
  2: 5,
  3: 4,
  4: 3,
  5: 2,
}

const HOST =
  hostname()
    .replace(/[^\x21-\x7e]/g, '')
    .slice(0, 255) || '-'

/**
 * An event as a message of RFC 5424, with its length before it (RFC 6587, RFC 5425). Of an event that is too large, `unmapped`
 * keeps only its size, and long texts are cut.
 */
export function syslogMessage(event: OcsfEvent): string {
  const whole = messageOf(event)
  const size_bytes = Buffer.byteLength(whole)
  if (size_bytes <= MESSAGE_MAX_BYTES) return framed(whole)
  const left_out = { left_out: true, size_bytes }
  const smaller = messageOf({ ...event, unmapped: left_out })
  if (Buffer.byteLength(smaller) <= MESSAGE_MAX_BYTES) return framed(smaller)
  return framed(
    messageOf(JSON.parse(JSON.stringify({ ...event, unmapped: left_out }), cut) as OcsfEvent),
  )
}

const cut = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > PATH_LENGTH
    ? `${value.slice(0, PATH_LENGTH)}…`
    : value

function messageOf(event: OcsfEvent): string {
  const { event_code } = event['metadata'] as { readonly event_code: string }
  const priority = FACILITY * 8 + SEVERITIES[event.severity_id]
  const time = new Date(event.time).toISOString()
  return `<${priority}>1 ${time} ${HOST} agent-access-gateway - ${event_code.slice(0, 32)} - ${JSON.stringify(event)}`
}

const framed = (message: string): string => `${Buffer.byteLength(message)} ${message}`
