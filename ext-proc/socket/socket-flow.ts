import { setImmediate } from 'node:timers/promises'
import type { Denial } from '../verdict/denial.ts'
import { CLOSE, encodeClose, encodeFrame } from './frame.ts'
import { type FrameEvents, FrameReader } from './frame-reader.ts'
import { MessageReader } from './message-reader.ts'
import type { SocketPlan, SocketSide } from '../verdict/socket-plan.ts'

/** What becomes of the bytes that have come. */
export interface FlowVerdict {
  /** They go out in place of those that came; null: these go out as they are. */
  readonly bytes: Buffer | null
  /** Why nothing more of this side goes on; the bytes then end with a close frame. */
  readonly denial: Denial | null
}

const AS_IT_IS: FlowVerdict = { bytes: null, denial: null }
const NOTHING: FlowVerdict = { bytes: Buffer.alloc(0), denial: null }

/** A part may hold thousands of messages. Other calls are served between them. */
const SLICE_MS = 2

/** What one side of a WebSocket sends. */
export interface SocketFlow {
  /** Frames that have begun. */
  readonly frames: number
  push(bytes: Buffer): FlowVerdict | Promise<FlowVerdict>
}

/** @param hold see `MessageLimits` */
export const openFlow = (
  side: SocketSide,
  plan: SocketPlan,
  hold: (bytes: number) => boolean,
): SocketFlow => (plan.judge[side] === null ? new CountedFlow() : new JudgedFlow(side, plan, hold))

/** Passes all bytes and counts the frames in them. */
class CountedFlow implements SocketFlow, FrameEvents {
  frames = 0
  readonly #reader: FrameReader = new FrameReader(this)
  #isReadable = true

  push(bytes: Buffer): FlowVerdict {
    if (this.#isReadable) this.#isReadable = this.#reader.push(bytes)
    return AS_IT_IS
  }

  head(): boolean {
    this.frames++
    return true
  }

  payload(): boolean {
    return true
  }

  end(): boolean {
    return true
  }
}

/**
 * Lets a message out once all of it was judged, in a single frame of our own: the receiver cannot read the bytes in another
 * way than the scanner has. Control frames are judged too, and go out before the message in whose middle they came.
 */
class JudgedFlow implements SocketFlow {
  frames = 0
  readonly #side: SocketSide
  readonly #plan: SocketPlan
  readonly #reader: MessageReader
  #isClosed = false

  constructor(side: SocketSide, plan: SocketPlan, hold: (bytes: number) => boolean) {
    this.#side = side
    this.#plan = plan
    const onFrame = (): void => {
      this.frames++
    }
    const limits = { message_bytes: plan.message_limit_bytes, hold, onFrame }
    this.#reader = new MessageReader(limits, side === 'client')
  }

  async push(bytes: Buffer): Promise<FlowVerdict> {
    if (this.#isClosed) return NOTHING
    const is_masked = this.#side === 'client'
    const out: Buffer[] = []
    let slice_ms = performance.now()
    for (const piece of this.#reader.push(bytes)) {
      if (performance.now() - slice_ms > SLICE_MS) {
        await setImmediate()
        slice_ms = performance.now()
      }
      const isFault = piece.kind === 'fault'
      const denial = isFault
        ? denialOf(piece.code, this.#side, this.#plan)
        : await this.#judge(piece.payload)
      if (denial === null) {
        if (!isFault) out.push(encodeFrame(piece.opcode, piece.payload, is_masked))
        continue
      }
      this.#isClosed = true
      const code = isFault ? piece.code : codeOf(denial)
      out.push(encodeClose(code, denial.reason, is_masked))
      return { bytes: Buffer.concat(out), denial }
    }
    return { bytes: Buffer.concat(out), denial: null }
  }

  #judge(payload: Buffer): Denial | null | Promise<Denial | null> {
    return payload.length === 0 ? null : (this.#plan.judge[this.#side]?.(payload) ?? null)
  }
}

const codeOf = ({ reason }: Denial): number =>
  reason === 'security_block' ? CLOSE.policy : CLOSE.try_again_later

function denialOf(code: number, side: SocketSide, plan: SocketPlan): Denial {
  const { message_limit_bytes: limit_bytes, base_url } = plan
  const isClient = side === 'client'
  switch (code) {
    case CLOSE.too_big:
      return {
        reason: isClient ? 'request_too_large' : 'response_too_large',
        details: { limit_bytes },
      }
    case CLOSE.try_again_later:
      return { reason: 'inspection_busy', details: {} }
    default:
      return isClient
        ? { reason: 'bad_request', details: { reason: 'websocket_frame' } }
        : { reason: 'upstream_reset', details: { base_url } }
  }
}
