import { crc32 } from 'node:zlib'

/**
 * The index of a compressed hour of the archive. The hour consists of gzip members; the index has, for each, its length and
 * times, and for values of entries the members that may hold them. It contains hashes and no values. All numbers are
 * little-endian.
 *
 * | part | content |
 * |---|---|
 * | head | magic, CRC-32 of the rest of head, values, members and buckets, bytes of the hour file (8), values, members (4 each) |
 * | values | rising by hash: hash, position of its list in the lists, length of the list, CRC-32 of the list |
 * | members | compressed bytes, bytes of text, time of the first and of the last entry in ms since the hour began |
 * | buckets | for each first byte of a hash of a request id: records, and the CRC-32 of the records |
 * | lists | members that hold a value: bits, or numbers of two bytes, whichever is shorter |
 * | requests | of each bucket: three bytes of a hash, two of the member |
 */
export const INDEX_MAGIC = 0x31_69_67_61
export const INDEX_HEAD_BYTES = 24
export const VALUE_BYTES = 16
export const MEMBER_BYTES = 16
export const BUCKETS = 256
export const BUCKET_BYTES = 8
export const REQUEST_BYTES = 5
/** What a number of two bytes can name. */
export const MEMBERS_MAX = 0xffff

/** A part of the file that is read only when it is needed. */
export interface IndexPart {
  readonly at: number
  readonly bytes: number
  readonly crc: number
}

export interface IndexMember {
  readonly at: number
  readonly bytes: number
  readonly text_bytes: number
  readonly first_ms: number
  readonly last_ms: number
}

/** The first parts of an index, up to its lists. */
export class HourIndex {
  readonly #bytes: Buffer
  readonly #hour_ms: number
  readonly #values: number
  readonly members: number
  /** Of the hour file that it describes. */
  readonly file_bytes: number
  #ends: Float64Array | null = null

  private constructor(bytes: Buffer, hour_ms: number) {
    this.#bytes = bytes
    this.#hour_ms = hour_ms
    this.file_bytes = Number(bytes.readBigUInt64LE(8))
    this.#values = bytes.readUInt32LE(16)
    this.members = bytes.readUInt32LE(20)
  }

  /** The length of the first parts; null if this is not the head of an index. */
  static lengthOf(head: Buffer): number | null {
    if (head.length < INDEX_HEAD_BYTES || head.readUInt32LE(0) !== INDEX_MAGIC) return null
    const values = head.readUInt32LE(16) * VALUE_BYTES
    const members = head.readUInt32LE(20) * MEMBER_BYTES
    return INDEX_HEAD_BYTES + values + members + BUCKETS * BUCKET_BYTES
  }

  /** Null if these are not the first parts of an index, as they were written. */
  static read(bytes: Buffer, hour_ms: number): HourIndex | null {
    if (HourIndex.lengthOf(bytes) !== bytes.length) return null
    return crc32(bytes.subarray(8)) === bytes.readUInt32LE(4) ? new HourIndex(bytes, hour_ms) : null
  }

  /** What it takes in memory. */
  get size(): number {
    return this.#bytes.length + this.members * 8
  }

  member(number: number): IndexMember {
    const row = this.#membersAt + number * MEMBER_BYTES
    const bytes = this.#bytes.readUInt32LE(row)
    return {
      at: (this.#memberEnds()[number] ?? 0) - bytes,
      bytes,
      text_bytes: this.#bytes.readUInt32LE(row + 4),
      first_ms: this.#hour_ms + this.#bytes.readUInt32LE(row + 8),
      last_ms: this.#hour_ms + this.#bytes.readUInt32LE(row + 12),
    }
  }

  /** Null if no entry of the hour has the value. */
  listOf(hash: number): IndexPart | null {
    let low = 0
    let high = this.#values
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#bytes.readUInt32LE(INDEX_HEAD_BYTES + middle * VALUE_BYTES) < hash) low = middle + 1
      else high = middle
    }
    const row = INDEX_HEAD_BYTES + low * VALUE_BYTES
    if (low >= this.#values || this.#bytes.readUInt32LE(row) !== hash) return null
    return {
      at: this.#bytes.length + this.#bytes.readUInt32LE(row + 4),
      bytes: this.#bytes.readUInt32LE(row + 8),
      crc: this.#bytes.readUInt32LE(row + 12),
    }
  }

  /** The request ids whose hashes begin as this one does. `total` is the length of the index file, at whose end they are. */
  bucketOf(hash: number, total: number): IndexPart {
    const own = hash >>> 24
    let after = 0
    for (let i = own + 1; i < BUCKETS; i++) after += this.#recordsOf(i)
    const bytes = this.#recordsOf(own) * REQUEST_BYTES
    const row = this.#bucketsAt + own * BUCKET_BYTES
    return {
      at: total - after * REQUEST_BYTES - bytes,
      bytes,
      crc: this.#bytes.readUInt32LE(row + 4),
    }
  }

  get #membersAt(): number {
    return INDEX_HEAD_BYTES + this.#values * VALUE_BYTES
  }

  get #bucketsAt(): number {
    return this.#membersAt + this.members * MEMBER_BYTES
  }

  #recordsOf(bucket: number): number {
    return this.#bytes.readUInt32LE(this.#bucketsAt + bucket * BUCKET_BYTES)
  }

  #memberEnds(): Float64Array {
    if (this.#ends !== null) return this.#ends
    let end = 0
    this.#ends = Float64Array.from({ length: this.members }, (_, i) => {
      end += this.#bytes.readUInt32LE(this.#membersAt + i * MEMBER_BYTES)
      return end
    })
    return this.#ends
  }
}

/** The members of a list. @throws if it was changed */
export function membersOfList(list: Buffer, { bytes, crc }: IndexPart, members: number): number[] {
  if (list.length !== bytes || crc32(list) !== crc) throw new Error('a list of an index is damaged')
  const bits = bitsLength(members)
  const found: number[] = []
  if (bytes === bits)
    for (let i = 0; i < members; i++) {
      if (((list[i >>> 3] ?? 0) >>> (i & 7)) & 1) found.push(i)
    }
  else for (let at = 0; at + 2 <= bytes; at += 2) found.push(list.readUInt16LE(at))
  return found
}

/** Never as long as a list of numbers. */
export const bitsLength = (members: number): number => {
  const bytes = Math.ceil(members / 8)
  return bytes % 2 === 0 ? bytes + 1 : bytes
}

/** The members that may hold a request id. @throws if the bucket was changed */
export function membersOfRequest(
  bucket: Buffer,
  { bytes, crc }: IndexPart,
  hash: number,
): number[] {
  if (bucket.length !== bytes || crc32(bucket) !== crc)
    throw new Error('a part of an index is damaged')
  const rest = hash & 0xffffff
  const found = new Set<number>()
  for (let at = 0; at < bytes; at += REQUEST_BYTES)
    if (bucket.readUIntLE(at, 3) === rest) found.add(bucket.readUInt16LE(at + 3))
  return [...found].sort((a, b) => a - b)
}
