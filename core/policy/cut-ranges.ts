export interface ByteRange {
  readonly start: number
  /** The first byte after it. */
  readonly end: number
}

/** The body without these ranges, which are in order and do not overlap; every other byte is copied as it is. */
export function cutRanges(body: Buffer, ranges: readonly ByteRange[]): Buffer {
  const kept: Buffer[] = []
  let at = 0
  for (const { start, end } of ranges) {
    kept.push(body.subarray(at, start))
    at = end
  }
  kept.push(body.subarray(at))
  return Buffer.concat(kept)
}
