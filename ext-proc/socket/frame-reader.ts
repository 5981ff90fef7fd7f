import { MASK_BYTES } from './frame.ts'

/** The header of a frame. */
export interface FrameHead {
  readonly is_final: boolean
  /** RSV1 to RSV3, which only extensions set. */
  readonly reserved: number
  readonly opcode: number
  readonly mask: Buffer | null
  readonly length_bytes: number
}

export interface FrameEvents {
  /** @returns false ends the reading */
  head(head: FrameHead): boolean
  /** A part of the payload of the frame whose header came last, as it was sent. */
  payload(part: Buffer, offset: number): boolean
  /** All of the payload has come. */
  end(): boolean
}

/** Two bytes, a length of eight and a mask. */
const HEAD_MAX_BYTES = 14

/** Finds the frames in the bytes of one direction, which come in parts of any size: a part is not a frame. */
export class FrameReader {
  readonly #events: FrameEvents
  /** Of the header that is being read. */
  readonly #head = Buffer.alloc(HEAD_MAX_BYTES)
  #head_bytes = 0
  /** Null while a header is read. */
  #frame: FrameHead | null = null
  #read_bytes = 0

  constructor(events: FrameEvents) {
    this.#events = events
  }

  /** @returns false if an event has ended the reading, or a length is not valid */
  push(bytes: Buffer): boolean {
    let at = 0
    while (at < bytes.length) {
      if (this.#frame === null) {
        this.#head[this.#head_bytes++] = bytes[at++] as number
        if (!this.#begin()) return false
        continue
      }
      const { length_bytes } = this.#frame
      const end = Math.min(bytes.length, at + length_bytes - this.#read_bytes)
      if (!this.#events.payload(bytes.subarray(at, end), this.#read_bytes)) return false
      this.#read_bytes += end - at
      at = end
      if (!this.#endIfWhole()) return false
    }
    return true
  }

  /** Once the header is whole. */
  #begin(): boolean {
    const head = this.#head
    if (this.#head_bytes < 2) return true
    const short = (head[1] as number) & 0x7f
    const extended = short < 126 ? 0 : short === 126 ? 2 : 8
    const is_masked = (head[1] as number) >= 0x80
    if (this.#head_bytes < 2 + extended + (is_masked ? MASK_BYTES : 0)) return true
    const length = extended === 0 ? short : readLength(head, extended)
    if (length === null) return false
    const first = head[0] as number
    const frame: FrameHead = {
      is_final: first >= 0x80,
      reserved: (first >> 4) & 7,
      opcode: first & 0xf,
      mask: is_masked ? Buffer.from(head.subarray(2 + extended, 2 + extended + MASK_BYTES)) : null,
      length_bytes: length,
    }
    this.#head_bytes = 0
    this.#read_bytes = 0
    this.#frame = frame
    return this.#events.head(frame) && this.#endIfWhole()
  }

  #endIfWhole(): boolean {
    if (this.#frame === null || this.#read_bytes < this.#frame.length_bytes) return true
    this.#frame = null
    return this.#events.end()
  }
}

/** Null if the length could be written in fewer bytes, or is no length: readers differ in what they take it for. */
function readLength(head: Buffer, bytes: 2 | 8): number | null {
  if (bytes === 2) {
    const length = head.readUInt16BE(2)
    return length < 126 ? null : length
  }
  const length = head.readBigUInt64BE(2)
  return length <= 0xffffn || length > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(length)
}
