import type { PassChanges, PassNotes } from '../envoy/write-response.ts'
import type { ResponseInspector } from './response-inspector.ts'
import type { Deny } from './step.ts'

/** What the gateway decides about a call. */
export type Verdict = Forward | Deny

export interface Forward {
  readonly kind: 'forward'
  readonly changes: PassChanges
  readonly inspector: ResponseInspector
  /** The rate limit headers of the response. */
  readonly rate: PassNotes['rate']
}
