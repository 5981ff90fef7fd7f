import type { Header } from '../../core/policy/header.ts'
import type { Reason } from '../../core/reasons.ts'

/** An expected no: the reason, what the caller may know of it, and what only the activity log holds. */
export interface Denial {
  readonly reason: Reason
  readonly details: Readonly<Record<string, unknown>>
  /** In place of the status in the catalogue: a call in flight at a kill answers 503. */
  readonly status?: number
  readonly headers?: readonly Header[]
  /** The `data` of the activity entry, where it says more than `details`. */
  readonly data?: Readonly<Record<string, unknown>>
  /** In place of the error body: a JSON-RPC result. */
  readonly body?: Buffer
  /** The code of the JSON-RPC error, where the protocol has one for it; else it is the status. */
  readonly json_rpc_code?: number
}
