import { randomFillSync } from 'node:crypto'

/** RFC 6455, section 5.2. */
export const OPCODE = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const

/** RFC 6455, section 7.4.1: why an endpoint ends a WebSocket. */
export const CLOSE = {
  protocol_error: 1002,
  invalid_data: 1007,
  policy: 1008,
  too_big: 1009,
  try_again_later: 1013,
} as const

/** Of the header: a final frame, and one with a mask. */
const FINAL = 0x80
const MASKED = 0x80
export const MASK_BYTES = 4
const LENGTH_16 = 126
const LENGTH_64 = 127
/** Of control frames, whose length has seven bits. */
export const CONTROL_MAX_BYTES = 125

/**
 * One unfragmented frame.
 * @param is_masked as those of clients are, with a mask that nobody can predict (RFC 6455, section 10.3)
 */
export function encodeFrame(opcode: number, payload: Buffer, is_masked: boolean): Buffer {
  const { length } = payload
  const extended = length <= CONTROL_MAX_BYTES ? 0 : length <= 0xffff ? 2 : 8
  const start = 2 + extended + (is_masked ? MASK_BYTES : 0)
  const frame = Buffer.allocUnsafe(start + length)
  const short = extended === 0 ? length : extended === 2 ? LENGTH_16 : LENGTH_64
  frame[0] = FINAL | opcode
  frame[1] = (is_masked ? MASKED : 0) | short
  if (extended === 2) frame.writeUInt16BE(length, 2)
  else if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  payload.copy(frame, start)
  if (!is_masked) return frame
  const mask = frame.subarray(start - MASK_BYTES, start)
  randomFillSync(mask)
  applyMask(frame.subarray(start), mask, 0)
  return frame
}

export function encodeClose(code: number, reason: string, is_masked: boolean): Buffer {
  const text = Buffer.from(reason, 'utf8').subarray(0, CONTROL_MAX_BYTES - 2)
  const payload = Buffer.allocUnsafe(2 + text.length)
  payload.writeUInt16BE(code, 0)
  text.copy(payload, 2)
  return encodeFrame(OPCODE.close, payload, is_masked)
}

/** In place. @param offset how many bytes of the payload come before */
export function applyMask(bytes: Buffer, mask: Buffer, offset: number): void {
  const keys = [0, 1, 2, 3].map((i) => mask[(i + offset) & 3] ?? 0)
  const [a = 0, b = 0, c = 0, d = 0] = keys
  const whole = bytes.length & ~3
  for (let i = 0; i < whole; i += 4) {
    bytes[i] = (bytes[i] as number) ^ a
    bytes[i + 1] = (bytes[i + 1] as number) ^ b
    bytes[i + 2] = (bytes[i + 2] as number) ^ c
    bytes[i + 3] = (bytes[i + 3] as number) ^ d
  }
  for (let i = whole; i < bytes.length; i++)
    bytes[i] = (bytes[i] as number) ^ (keys[i & 3] as number)
}
