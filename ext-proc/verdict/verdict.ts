import type { PassChanges, PassNotes } from '../envoy/write-response.ts'
import type { Denial } from './denial.ts'
import type { ResponseInspector } from './response-inspector.ts'
import type { SocketPlan } from './socket-plan.ts'
import type { Standing } from './standing.ts'
import type { Deny } from './step.ts'

/** What the gateway decides about a call. */
export type Verdict = Forward | Deny

export interface Forward {
  readonly kind: 'forward'
  readonly changes: PassChanges
  readonly inspector: ResponseInspector
  /** The rate limit headers of the response. */
  readonly rate: PassNotes['rate']
  /**
   * It opens a tunnel of the forward proxy. The calls inside an intercepted one are decided and logged by themselves; one that is
   * passed through unread (`blind`) is logged as a call.
   */
  readonly tunnel?: 'intercepted' | 'blind'
  /** `Preference-Applied` of the response; absent or null if no preference was followed. */
  readonly preference?: string | null
  readonly standing: Standing
  /** The call becomes a WebSocket, if the API agrees. */
  readonly socket?: SocketPlan
  /** An approval was taken for it. */
  readonly approved?: {
    /** Whether the call was sent. */
    readonly note: (was_sent: boolean) => void
    /** If its caller has left before it is sent. */
    readonly spent: Denial
  }
}
