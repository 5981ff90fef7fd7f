import type { KillMethod } from './kill-record.ts'

/** Receipts that an organization keeps; the oldest are removed. One has a few hundred bytes, with many edges some kilobytes. */
export const RECEIPTS_MAX = 1_000
/** Rows of edges, and ids of keys, that a kept receipt has at most. */
export const RECEIPT_ROWS_MAX = 200

/** What one edge did for a kill. */
export interface EdgeReceipt {
  readonly edge_id: string
  readonly region: string
  /** Null if it has not acknowledged. */
  readonly acknowledged_ms: number | null
  /** Calls. */
  readonly terminated: number
  /** Tunnels of the forward proxy that were closed, if there were any. */
  readonly tunnels?: number
  readonly unconfirmed: number
  /** An older version, which acknowledges a lock without enforcing it. Absent otherwise. */
  readonly is_too_old?: true
}

/** What the edges did, as far as it was counted. */
export interface Counted {
  /** When the counts were written last; null while it is in progress. */
  readonly counted_at: string | null
  readonly complete: boolean
  readonly in_flight_requests_terminated: number
  /** Receipts of older versions count tunnels as calls. */
  readonly tunnels_terminated?: number
  readonly propagation_ms: number
  readonly edges: readonly EdgeReceipt[]
}

/** The kept receipt of a kill. It is written with the kill; the counts follow when the edges have acknowledged. */
export interface StoredReceipt extends Counted {
  readonly kill_id: string
  readonly agent_id: string
  readonly agent_name: string
  readonly requested_at: string
  /** When the agent was killed: of a repeated kill, the time of the first. */
  readonly killed_at: string
  readonly repeated: boolean
  readonly reason: string | null
  /** E-mail of the operator, or `system`. */
  readonly triggered_by: string
  readonly kill_method: KillMethod
  readonly credentials_revoked: number
  readonly still_usable_keys: readonly string[]
  readonly last_request: string | null
  readonly requests_last_hour: number
}
