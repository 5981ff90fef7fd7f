import type { FileHandle } from 'node:fs/promises'
import { readArchiveLine } from '../../core/activity/archive-line.ts'
import { comparePlaces } from '../../core/activity/log-place.ts'
import { readAt } from '../../core/activity/read-at.ts'
import type { DiskReads } from '../context/disk-reads.ts'

/** Some hundred lines. */
const PORTION_BYTES = 1 << 18
/** A line has 33 kB at most. */
const LINE_BYTES_MAX = 1 << 17
const LINE_FEED = 0x0a

/**
 * The whole lines of an hour file that is not compressed, in portions from new to old, beginning near a place. The file may grow
 * meanwhile.
 * @throws (rejects) where it has no lines of an archive
 */
export async function* plainPortions(
  disk: DiskReads,
  file: FileHandle,
  before: string | null,
): AsyncGenerator<Buffer> {
  const { size } = await disk.run(() => file.stat())
  for (let end = before === null ? size : await endOf(disk, file, size, before); end > 0; ) {
    const start = Math.max(0, end - PORTION_BYTES)
    const bytes = await disk.run(() => readAt(file, start, end - start))
    const begin = start === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1
    if (start > 0 && (begin === 0 || begin === bytes.length))
      throw new Error('a line of an archive is too long')
    // Only the newest line can be without its end: it is being written.
    yield bytes.subarray(begin, bytes.lastIndexOf(LINE_FEED) + 1)
    end = start + begin
  }
}

/** Where lines end of which all others are of the place or later. */
async function endOf(
  disk: DiskReads,
  file: FileHandle,
  size: number,
  before: string,
): Promise<number> {
  let low = 0
  let high = size
  while (high - low > PORTION_BYTES) {
    const middle = Math.floor((low + high) / 2)
    const place = await placeFrom(disk, file, middle)
    if (place !== null && comparePlaces(place, before) < 0) low = middle
    else high = middle
  }
  const bytes = await disk.run(() => readAt(file, high, LINE_BYTES_MAX))
  const end = bytes.indexOf(LINE_FEED)
  return end < 0 ? size : high + end + 1
}

/** Of the first line that begins after the position. */
async function placeFrom(disk: DiskReads, file: FileHandle, at: number): Promise<string | null> {
  const bytes = await disk.run(() => readAt(file, at, LINE_BYTES_MAX))
  const [, ...lines] = bytes.toString('latin1').split('\n')
  for (const line of lines) {
    const read = readArchiveLine(line)
    if (read !== null) return read.place
  }
  return null
}
