import type { EventName } from '../catalogue/events.ts'
import type { Reason } from '../catalogue/reasons.ts'

export interface StepMark {
  readonly step: string
  readonly outcome: 'pass' | 'deny'
  readonly took_us: number
}

export const DECISIONS = ['allowed', 'blocked', 'terminated'] as const
export type Decision = (typeof DECISIONS)[number]

/** An entry of the activity log: a call, kill, reactivation, anomaly or change by an operator. */
export interface ActivityEntry {
  readonly id: string
  readonly timestamp: string
  readonly event: EventName
  readonly organization_id: string
  readonly agent_id: string | null
  readonly agent_name: string | null
  readonly key_id: string | null
  readonly integration_id: string | null
  readonly scope_id: string | null
  /** Position of the deciding rule in its scope. */
  readonly rule: number | null
  readonly method: string | null
  /** The path of the target as the caller wrote it, without its query, before anything was substituted; keys in it are masked. */
  readonly endpoint: string | null
  /** The HTTP status of the response; null while unknown. */
  readonly status: number | null
  readonly decision: Decision | null
  readonly reason: Reason | null
  readonly source_ip: string | null
  readonly request_id: string | null
  readonly edge_id: string | null
  readonly steps: readonly StepMark[]
  readonly duration_ms: number | null
  readonly bytes_in: number | null
  readonly bytes_out: number | null
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * An entry is written as `XADD <activity:org> MAXLEN ~ ACTIVITY_MAX_ENTRIES * e <JSON>`, or with others as a block
 * (core/lua/record-blocks.lua). Readers take `id` from the entry; entries are ordered by their position in the stream.
 */
export const ACTIVITY_FIELD = 'e'
export const BLOCK_FIELD = 'b'
/** Bound of an organization's stream in Redis; older entries are found in the archive. */
export const ACTIVITY_MAX_ENTRIES = 1_000_000
