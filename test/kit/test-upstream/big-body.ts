import { createCipheriv } from 'node:crypto'

const PART_BYTES = 64 * 1024

/** Bytes that look random and are the same every time: the key stream of AES-CTR. */
export function* bigBody(bytes: number): Generator<Buffer> {
  const stream = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16, 9))
  for (let left = bytes; left > 0; left -= PART_BYTES)
    yield stream.update(Buffer.alloc(Math.min(left, PART_BYTES)))
}
