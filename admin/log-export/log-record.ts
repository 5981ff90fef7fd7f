import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { type OtlpAttribute, otlpAttribute } from '../../core/otlp/otlp-attribute.ts'
import { activityView } from '../activity/activity-view.ts'
import { type ExportedEntry, isNotable } from './exported-entry.ts'

/** A record as OTLP/HTTP has it in JSON: 64-bit integers are texts. */
export interface LogRecord {
  readonly timeUnixNano: string
  readonly observedTimeUnixNano: string
  readonly severityNumber: number
  readonly severityText: string
  readonly eventName: string
  readonly body: { readonly stringValue: string }
  readonly attributes: readonly OtlpAttribute[]
}

/** Of the OpenTelemetry logs data model. */
const INFO = { severityNumber: 9, severityText: 'INFO' } as const
const WARN = { severityNumber: 13, severityText: 'WARN' } as const

/** Names of OpenTelemetry's semantic conventions where there is one. */
const ATTRIBUTES: Partial<Record<keyof ActivityEntry, string>> = {
  id: 'agw.entry.id',
  agent_id: 'agw.agent.id',
  agent_name: 'agw.agent.name',
  key_id: 'agw.key.id',
  integration_id: 'agw.integration.id',
  scope_id: 'agw.scope.id',
  decision: 'agw.decision',
  reason: 'agw.reason',
  request_id: 'agw.request.id',
  edge_id: 'agw.edge.id',
  method: 'http.request.method',
  endpoint: 'url.path',
  status: 'http.response.status_code',
  source_ip: 'client.address',
  bytes_in: 'http.request.body.size',
  bytes_out: 'http.response.body.size',
}

/**
 * The record of a log entry. The body is the entry as JSON, as `GET /admin/activity` shows it. An entry that cannot be read is
 * the body as it is.
 */
export function logRecordOf({ entry, text, at_ms }: ExportedEntry, observed: Date): LogRecord {
  if (entry === null) return recordOf('unreadable', text, at_ms, observed)
  const shown = activityView(entry)
  return {
    ...recordOf(entry.event, JSON.stringify(shown), at_ms, observed),
    ...(isNotable(entry) ? WARN : INFO),
    attributes: Object.entries(ATTRIBUTES).flatMap(([member, key]) => {
      const value = shown[member]
      return typeof value === 'string' || typeof value === 'number'
        ? [otlpAttribute(key, value)]
        : []
    }),
  }
}

/** Entries that the store removed before they could be exported. */
export interface ExportGap {
  readonly missing: number
  /** The time of the first entry after them. */
  readonly at_ms: number
}

/** Tells a receiver that its copy of the log is incomplete. */
export const gapRecord = ({ missing, at_ms }: ExportGap, observed: Date): LogRecord => ({
  ...recordOf(
    'gap',
    `${missing} entries were removed from the store before they could be exported.`,
    at_ms,
    observed,
  ),
  ...WARN,
  attributes: [otlpAttribute('agw.gap.entries', missing)],
})

const recordOf = (name: string, text: string, time_ms: number, observed: Date): LogRecord => ({
  timeUnixNano: nanosOf(time_ms),
  observedTimeUnixNano: nanosOf(observed.getTime()),
  ...INFO,
  eventName: `agw.${name}`,
  body: { stringValue: text },
  attributes: [],
})

const nanosOf = (ms: number): string => `${Math.max(0, Math.floor(ms))}000000`
