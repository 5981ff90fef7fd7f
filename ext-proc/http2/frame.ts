/** Numbers of HTTP/2 (RFC 9113). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push_promise: 5,
  ping: 6,
  goaway: 7,
  window_update: 8,
  continuation: 9,
} as const

export const FLAG = { end_stream: 1, ack: 1, end_headers: 4, padded: 8, priority: 32 } as const

export const H2_ERROR = {
  none: 0,
  protocol: 1,
  internal: 2,
  flow_control: 3,
  stream_closed: 5,
  frame_size: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  enhance_your_calm: 11,
} as const

export const FRAME_HEAD_BYTES = 9
/** The largest frame that either side may send unless the other one allows more; we do not. */
export const FRAME_BYTES_MAX = 16_384

/** A frame around a payload of so many bytes; the payload is written by the caller, from byte 9 on. */
export function openFrame(
  type: number,
  flags: number,
  stream_id: number,
  payload_bytes: number,
): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload_bytes)
  writeFrameHead(frame, 0, type, flags, stream_id, payload_bytes)
  return frame
}

export function writeFrameHead(
  bytes: Buffer,
  at: number,
  type: number,
  flags: number,
  stream_id: number,
  payload_bytes: number,
): void {
  bytes[at] = payload_bytes >>> 16
  bytes[at + 1] = payload_bytes >>> 8
  bytes[at + 2] = payload_bytes
  bytes[at + 3] = type
  bytes[at + 4] = flags
  bytes[at + 5] = stream_id >>> 24
  bytes[at + 6] = stream_id >>> 16
  bytes[at + 7] = stream_id >>> 8
  bytes[at + 8] = stream_id
}
