import { isUtf8 } from 'node:buffer'
import { applyMask, CLOSE, CONTROL_MAX_BYTES, OPCODE } from './frame.ts'
import { type FrameEvents, type FrameHead, FrameReader } from './frame-reader.ts'

/** What a part of the bytes completes. */
export type Piece =
  /** A message without its frames, or a control frame. */
  | { readonly kind: 'message'; readonly opcode: number; readonly payload: Buffer }
  /** The bytes break the protocol, or a limit. Nothing after them is read. */
  | { readonly kind: 'fault'; readonly code: number }

export interface MessageLimits {
  /** Of the payload of a message, of all its frames together. */
  readonly message_bytes: number
  /** Takes memory for so many bytes of a message that is not complete, in place of those taken before. False: there is none. */
  readonly hold: (bytes: number) => boolean
  readonly onFrame: () => void
}

/** RFC 6455, section 7.4: codes that may be sent. */
const isCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) ||
  (code >= 3000 && code <= 4999)

/** A payload that is being received. */
class Payload {
  readonly opcode: number
  bytes = Buffer.alloc(0)
  length = 0

  constructor(opcode: number) {
    this.opcode = opcode
  }

  /** @param limit the most that will come */
  append(part: Buffer, limit: number): void {
    const needed = this.length + part.length
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(needed, 2 * this.bytes.length)))
      this.bytes.copy(larger, 0, 0, this.length)
      this.bytes = larger
    }
    part.copy(this.bytes, this.length)
    this.length = needed
  }

  whole(): Buffer {
    return this.bytes.subarray(0, this.length)
  }
}

/**
 * The messages in the bytes of one side of a WebSocket without extensions: frames are put together and unmasked. What
 * RFC 6455 does not allow is a fault, because readers differ in what they make of it.
 */
export class MessageReader implements FrameEvents {
  readonly #limits: MessageLimits
  readonly #is_masked: boolean
  readonly #frames: FrameReader = new FrameReader(this)
  /** The data message of which more frames are to come, and the control frame between them. */
  #message: Payload | null = null
  #control: Payload | null = null
  #frame: FrameHead | null = null
  #pieces: Piece[] = []
  #isAtFault = false

  /** @param is_masked as the frames of a client must be, and those of a server must not */
  constructor(limits: MessageLimits, is_masked: boolean) {
    this.#limits = limits
    this.#is_masked = is_masked
  }

  push(bytes: Buffer): readonly Piece[] {
    this.#pieces = []
    if (this.#isAtFault) return this.#pieces
    if (!this.#frames.push(bytes) && !this.#isAtFault) this.#fault(CLOSE.protocol_error)
    return this.#pieces
  }

  head(frame: FrameHead): boolean {
    this.#frame = frame
    this.#limits.onFrame()
    const { opcode, is_final, reserved, mask, length_bytes } = frame
    if (reserved !== 0 || (mask !== null) !== this.#is_masked)
      return this.#fault(CLOSE.protocol_error)
    switch (opcode) {
      case OPCODE.close:
      case OPCODE.ping:
      case OPCODE.pong:
        if (!is_final || length_bytes > CONTROL_MAX_BYTES) return this.#fault(CLOSE.protocol_error)
        this.#control = new Payload(opcode)
        return true
      case OPCODE.text:
      case OPCODE.binary:
        if (this.#message !== null) return this.#fault(CLOSE.protocol_error)
        this.#message = new Payload(opcode)
        break
      case OPCODE.continuation:
        if (this.#message === null) return this.#fault(CLOSE.protocol_error)
        break
      default:
        return this.#fault(CLOSE.protocol_error)
    }
    return this.#message.length + length_bytes <= this.#limits.message_bytes
      ? true
      : this.#fault(CLOSE.too_big)
  }

  payload(part: Buffer, offset: number): boolean {
    const received = this.#control ?? this.#message
    if (received === null) throw new Error('a payload without a frame')
    const start = received.length
    const limit = this.#control === null ? this.#limits.message_bytes : CONTROL_MAX_BYTES
    received.append(part, limit)
    const mask = this.#frame?.mask ?? null
    if (mask !== null) applyMask(received.bytes.subarray(start, received.length), mask, offset)
    return this.#control !== null || this.#limits.hold(received.bytes.length)
      ? true
      : this.#fault(CLOSE.try_again_later)
  }

  end(): boolean {
    const control = this.#control
    if (control !== null) {
      this.#control = null
      return this.#complete(control)
    }
    const message = this.#message
    if (message === null || this.#frame?.is_final !== true) return true
    this.#message = null
    this.#limits.hold(0)
    return this.#complete(message)
  }

  #complete(received: Payload): boolean {
    const { opcode } = received
    const payload = received.whole()
    if (opcode === OPCODE.text && !isUtf8(payload)) return this.#fault(CLOSE.invalid_data)
    if (opcode === OPCODE.close && payload.length > 0) {
      if (payload.length === 1 || !isCloseCode(payload.readUInt16BE(0)))
        return this.#fault(CLOSE.protocol_error)
      if (!isUtf8(payload.subarray(2))) return this.#fault(CLOSE.invalid_data)
    }
    this.#pieces.push({ kind: 'message', opcode, payload })
    return true
  }

  #fault(code: number): false {
    this.#isAtFault = true
    this.#message = null
    this.#control = null
    this.#limits.hold(0)
    this.#pieces.push({ kind: 'fault', code })
    return false
  }
}
