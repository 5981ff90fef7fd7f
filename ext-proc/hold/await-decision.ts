import type { ApprovalState } from '../../core/approval/take-approval.ts'
import type { NeededApproval } from '../../core/decision/needed-approval.ts'
import type { Header } from '../../core/request/header.ts'
import { preferredWait } from '../../core/request/preferred-wait.ts'
import type { HeldCall, HeldCalls } from './held-calls.ts'

export interface HoldServices {
  readonly holds: {
    readonly calls: Pick<HeldCalls, 'wait'>
    /** How long a call waits at most. */
    readonly limit_ms: number
    /** How long Envoy waits for the answer to any other message; the rest of the decision may take so long. */
    readonly margin_ms: number
  }
  readonly nowMs: () => number
}

/** What a hold needs from the stream of the call. */
interface HeldStream {
  readonly is_over: boolean
  readonly ended: Promise<void>
  moreTime(ms: number): void
}

/** How long a call is to wait. */
export interface Wait {
  readonly ms: number
  /** The value of `Preference-Applied`, if the caller has said how long. */
  readonly preference: string | null
}

type Pending = Extract<ApprovalState, { readonly kind: 'pending' }>

/** What the caller prefers, or what its rule says; zero for a call that is answered at once. */
export function waitOf(
  { holds: { limit_ms } }: Pick<HoldServices, 'holds'>,
  headers: readonly Header[],
  needed: NeededApproval,
): Wait {
  const preferred_s = preferredWait(headers)
  const ms = Math.min((preferred_s ?? needed.wait_seconds) * 1000, limit_ms)
  return { ms, preference: preferred_s === null ? null : `wait=${Math.floor(ms / 1000)}` }
}

/**
 * Holds a call whose request is pending until a person has decided, its time is over, or it cannot wait any more. A call whose caller has
 * left takes no approval.
 * @param take the approval, if there is one
 * @returns the state of the request, and how long the call was held; null if it was not
 * @throws (rejects) when the store does not answer
 */
export async function awaitDecision(
  { holds: { calls, margin_ms }, nowMs }: HoldServices,
  held: Omit<HeldCall, 'request_id'>,
  pending: Pending,
  most_ms: number,
  stream: HeldStream,
  take: () => Promise<ApprovalState>,
): Promise<{ readonly state: ApprovalState; readonly held_ms: number | null }> {
  const begun_ms = nowMs()
  let isHeld = false
  let state: ApprovalState = pending
  const begin = (): void => {
    if (!isHeld) stream.moreTime(most_ms + margin_ms)
    isHeld = true
  }
  while (state.kind === 'pending') {
    const left_ms = begun_ms + most_ms - nowMs()
    if (left_ms <= 0) break
    // A request that expires before is found expired.
    const wait_ms = Math.min(left_ms, state.left_ms + EXPIRY_MARGIN_MS)
    const { request_id } = state
    const end = await calls.wait({ ...held, request_id }, wait_ms, stream.ended, begin)
    if ((end !== 'look' && end !== 'over') || stream.is_over) break
    state = await take()
  }
  return { state, held_ms: isHeld ? nowMs() - begun_ms : null }
}

/** The clocks of the store and of this process differ by less. */
const EXPIRY_MARGIN_MS = 100
