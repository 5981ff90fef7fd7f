import type { Writable } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

/** Lengths of the value and of the bytes after it, each as a 32-bit integer; -1 if there are no bytes. */
const HEAD_BYTES = 8
const NONE = -1

/** A structured value, and bytes that are neither copied into it nor out of it. */
export interface Frame {
  readonly value: unknown
  readonly bytes: Buffer | null
}

/** @param onSent called when the bytes are no longer needed */
export function writeFrame(to: Writable, { value, bytes }: Frame, onSent?: () => void): void {
  const text = serialize(value)
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeInt32LE(text.length, 0)
  head.writeInt32LE(bytes?.length ?? NONE, 4)
  to.cork()
  to.write(head)
  to.write(text, bytes === null ? onSent : undefined)
  if (bytes !== null) to.write(bytes, onSent)
  to.uncork()
}

/**
 * Puts the frames of a stream together again.
 * @param limit_bytes of a frame
 * @returns the function that takes the parts of the stream; it throws if they are not frames
 */
export function frameReader(
  limit_bytes: number,
  onFrame: (frame: Frame) => void,
): (part: Buffer) => void {
  let wanted: Buffer = Buffer.allocUnsafeSlow(HEAD_BYTES)
  let filled = 0
  let lengths: { readonly value: number; readonly bytes: number } | null = null
  const next = (length: number): void => {
    wanted = Buffer.allocUnsafeSlow(length)
    filled = 0
  }
  const complete = (): void => {
    if (lengths === null) {
      lengths = { value: wanted.readInt32LE(0), bytes: wanted.readInt32LE(4) }
      const { value, bytes } = lengths
      if (value < 0 || bytes < NONE || value + bytes > limit_bytes)
        throw new Error(`a frame of ${value} and ${bytes} bytes`)
      next(value + Math.max(0, bytes))
      return
    }
    const value: unknown = deserialize(wanted.subarray(0, lengths.value))
    const bytes = lengths.bytes === NONE ? null : wanted.subarray(lengths.value)
    lengths = null
    next(HEAD_BYTES)
    onFrame({ value, bytes })
  }
  return (part) => {
    let at = 0
    while (at < part.length) {
      const taken = part.copy(wanted, filled, at)
      at += taken
      filled += taken
      if (filled === wanted.length) complete()
    }
  }
}
