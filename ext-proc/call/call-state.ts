import type { CallWatch } from '../kill/stream-watch.ts'
import type { CallRecord } from '../record/call-record.ts'
import type { SocketPhase } from '../socket/socket-phase.ts'
import type { ResponseInspector } from '../verdict/response-inspector.ts'

/** What each state of a call may be followed by. */
export const NEXT_STATES = {
  deciding: ['passed', 'refused', 'cut', 'ended'],
  passed: ['refused', 'cut', 'ended'],
  refused: ['ended'],
  cut: ['ended'],
  ended: [],
} as const

/** Until a decision is written. */
export interface Deciding {
  readonly kind: 'deciding'
  /** The message of Envoy that the decision answers. */
  phase: 'request_headers' | 'request_body'
  /** Envoy was asked for the body, and has not sent it. */
  resolveBody: ((body: Buffer) => void) | null
  /** Ends the wait for the body. */
  late: NodeJS.Timeout | undefined
  /** Of the body, while it is held. */
  releaseBytes: (() => void) | null
}

/** The call is forwarded. The stream stays open until the response has ended. */
export interface Passed {
  readonly kind: 'passed'
  readonly record: CallRecord
  readonly inspector: ResponseInspector
  /** Of an allowed WebSocket. */
  readonly socket: SocketPhase | null
  /** If it is not certain that Envoy keeps the stream open. */
  readonly watch: CallWatch | null
  /**
   * Who writes the entry: the receiver of Envoy's access log, from the facts that Envoy has; this process, before the call was forwarded or
   * when it ends; or none, for a tunnel, in which each call has an entry of its own.
   */
  readonly entry: 'from Envoy' | 'written' | 'at the end' | 'none'
  /** It is logged why the gateway closes the WebSocket. */
  isClosing: boolean
  /** What Envoy knows of the response, and of the frames of a WebSocket. */
  noted_response: string
  noted_frames: string
}

/** A refusal is written, of the call or of its response. */
interface Refused {
  readonly kind: 'refused'
  readonly passed: Passed | null
}

/** A kill, a lock, a lost lease or a change has ended the call. */
interface Cut {
  readonly kind: 'cut'
  readonly passed: Passed | null
}

/** Envoy has ended the stream. */
interface Ended {
  readonly kind: 'ended'
}

export type CallState = Deciding | Passed | Refused | Cut | Ended

/** The states that may follow one. */
export type NextOf<State extends CallState> = Extract<
  CallState,
  { readonly kind: (typeof NEXT_STATES)[State['kind']][number] }
>

export const newCall = (): Deciding => ({
  kind: 'deciding',
  phase: 'request_headers',
  resolveBody: null,
  late: undefined,
  releaseBytes: null,
})

/** The call as it was forwarded; null if it was not, or has ended. */
export const passedOf = (state: CallState): Passed | null =>
  state.kind === 'passed'
    ? state
    : state.kind === 'refused' || state.kind === 'cut'
      ? state.passed
      : null
