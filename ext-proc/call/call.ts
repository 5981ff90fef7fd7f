import type { Header } from '../../core/policy/header.ts'
import type { Reason } from '../../core/reasons.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { ActivityRecorder } from '../record/activity-recorder.ts'
import type { AgentUses } from '../record/agent-uses.ts'
import type { AutoKiller } from '../kill/make-auto-killer.ts'
import type { KillBoard } from '../kill/kill-board.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { TokenCache } from '../credential/token-cache.ts'
import type { RateCounter, RateTaken } from '../rate/take-rate.ts'
import type { GatewayAddress } from '../response/gateway-address.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { Answer, CallIo } from './call-stream.ts'
import type { RequestHead } from './read-head.ts'

export interface DeciderParts {
  readonly policy: PolicyStore
  readonly killBoard: KillBoard
  readonly recorder: ActivityRecorder
  /** Whether the hearing lease is held. */
  readonly mayServe: () => boolean
  /** Null, or what to wait for after this process stood still: kills that lie unread. */
  readonly settled: () => Promise<void> | null
  readonly nowMs: () => number
  readonly settings: {
    readonly organization_id: string
    readonly max_body_bytes: number
    readonly verdict_secret: string
    readonly echo_origin: string | null
    readonly gateway: GatewayAddress
  }
  readonly pool: ScanPool
  /** Kills an agent by the gateway's own decision; the call that caused it has let go of its hold. */
  readonly autoKill: AutoKiller
  readonly takeRate: (counter: RateCounter) => Promise<RateTaken>
  readonly tokens: TokenCache
  readonly uses: AgentUses
  /** The name in `Via`; empty while the store has none. */
  readonly installation: () => Promise<string>
}

/** What every later step needs. */
export interface Call {
  readonly parts: DeciderParts
  readonly headers: readonly Header[]
  readonly head: RequestHead
  readonly io: CallIo
  readonly record: CallRecord
}

export type Step<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly answer: Answer }

export const given = <T>(value: T): Step<T> => ({ ok: true, value })

export function deny(
  record: CallRecord,
  step: string,
  reason: Reason,
  details: Readonly<Record<string, unknown>> = {},
): Answer {
  record.mark(step, 'deny')
  return { kind: 'deny', denial: { reason, details } }
}

export const refuse = (
  ...args: Parameters<typeof deny>
): { readonly ok: false; readonly answer: Answer } => ({
  ok: false,
  answer: deny(...args),
})
