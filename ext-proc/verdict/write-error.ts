import { type ErrorBody, REASONS, type Reason } from '../../core/reasons.ts'
import type { Header } from '../../core/policy/header.ts'
import type { Refusal } from '../envoy/write-response.ts'

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
}

/** Two challenges in one value, since ext_proc replaces a header that is set twice. */
const CHALLENGE: Header = {
  name: 'www-authenticate',
  value: 'Bearer realm="agw", Basic realm="agw", charset="UTF-8"',
}

/** The answer that a caller gets (contract §3, "Error body"). */
export function writeError(denial: Denial, request_id: string): Refusal {
  const { status, message } = REASONS[denial.reason]
  const error: ErrorBody = { error: denial.reason, message, details: denial.details, request_id }
  return {
    status: denial.status ?? status,
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'x-agw-reason', value: denial.reason },
      ...(status === 401 ? [CHALLENGE] : []),
      ...(denial.headers ?? []),
    ],
    body: denial.body ?? Buffer.from(JSON.stringify(error)),
    details: `agw_${denial.reason}`,
  }
}
