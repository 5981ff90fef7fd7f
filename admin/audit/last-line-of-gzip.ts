import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** The last member is one line of 33 kB at most. */
const TAIL_BYTES = 1 << 16
const LINE_BYTES_MAX = 1 << 17
const MEMBER = Buffer.from([0x1f, 0x8b, 0x08])

/** The last line of an hour file that `compressHour` has written; null if its end is damaged. */
export function lastLineOfGzip(path: string): string | null {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
    readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    for (let at = bytes.lastIndexOf(MEMBER); at >= 0; at = bytes.lastIndexOf(MEMBER, at - 1)) {
      const text = inflated(bytes.subarray(at))
      // The bytes of a member's start may stand in compressed data too.
      if (text !== null) return text.trimEnd()
      if (at === 0) break
    }
    return null
  } finally {
    closeSync(fd)
  }
}

function inflated(bytes: Buffer): string | null {
  try {
    return gunzipSync(bytes, { maxOutputLength: LINE_BYTES_MAX }).toString('utf8')
  } catch {
    return null
  }
}
