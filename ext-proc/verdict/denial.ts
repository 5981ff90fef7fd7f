import type { Header } from '../../core/request/header.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'

/** A refusal: the reason, the details for the caller, and what only the activity log contains. */
export interface Denial {
  readonly reason: Reason
  readonly details: Readonly<Record<string, unknown>>
  /** Overrides the status of the catalogue: a call in flight at the time of a kill gets 503. */
  readonly status?: number
  readonly headers?: readonly Header[]
  /** The `data` of the activity entry, if it contains more than `details`. */
  readonly data?: Readonly<Record<string, unknown>>
  /** A JSON-RPC result that replaces the error body. */
  readonly body?: Buffer
  /** The call had been forwarded: an SDK must not repeat it. */
  readonly was_called?: boolean
  /** The JSON-RPC error code, if the protocol defines one; otherwise the HTTP status is used. */
  readonly json_rpc_code?: number
}
