import { crc32 } from 'node:zlib'
import {
  bitsLength,
  BUCKET_BYTES,
  BUCKETS,
  INDEX_HEAD_BYTES,
  INDEX_MAGIC,
  MEMBER_BYTES,
  MEMBERS_MAX,
  REQUEST_BYTES,
  VALUE_BYTES,
} from './hour-index.ts'
import type { ActivityEntry } from './activity-entry.ts'
import { indexesOf } from './activity-index.ts'
import { readArchiveLine } from './archive-line.ts'
import { indexHash } from './index-hash.ts'
import { msOfPlace } from './log-place.ts'

const HOUR_MS = 3_600_000

interface Member {
  readonly bytes: number
  readonly text_bytes: number
  readonly first_ms: number
  readonly last_ms: number
}

/** Makes the index of an hour while its members are written one after the other. */
export class HourIndexWriter {
  readonly #hour_ms: number
  readonly #members: Member[] = []
  readonly #values = new Map<number, number[]>()
  readonly #requests = Array.from({ length: BUCKETS }, () => new Records())
  #file_bytes = 0

  constructor(hour_ms: number) {
    this.#hour_ms = hour_ms
  }

  get members(): number {
    return this.#members.length
  }

  /** The next member: the lines that it holds, and how many bytes they have compressed. */
  add(text: Buffer, bytes: number): void {
    const number = this.#members.length
    if (number >= MEMBERS_MAX) throw new Error('an hour has too many members')
    let first_ms = HOUR_MS
    let last_ms = 0
    for (const line of text.toString('utf8').split('\n')) {
      const read = readArchiveLine(line)
      if (read === null) continue
      const ms = Math.min(Math.max(0, msOfPlace(read.place) - this.#hour_ms), HOUR_MS)
      first_ms = Math.min(first_ms, ms)
      last_ms = Math.max(last_ms, ms)
      this.#addEntry(read.entry_text, number)
    }
    this.#members.push({ bytes, text_bytes: text.length, first_ms, last_ms })
    this.#file_bytes += bytes
  }

  #addEntry(text: string, member: number): void {
    const entry = entryOf(text)
    if (entry === null) return
    for (const name of indexesOf(entry)) {
      const hash = indexHash(name)
      const list = this.#values.get(hash)
      if (list === undefined) this.#values.set(hash, [member])
      else if (list.at(-1) !== member) list.push(member)
    }
    if (typeof entry.request_id !== 'string') return
    const hash = indexHash(entry.request_id)
    this.#requests[hash >>> 24]?.add(hash, member)
  }

  finish(): Buffer {
    const hashes = [...this.#values.keys()].sort((a, b) => a - b)
    const head = Buffer.alloc(INDEX_HEAD_BYTES)
    const values = Buffer.alloc(hashes.length * VALUE_BYTES)
    const lists: Buffer[] = []
    let at = 0
    for (const [i, hash] of hashes.entries()) {
      const list = listOf(this.#values.get(hash) ?? [], this.members)
      writeNumbers(values, i * VALUE_BYTES, [hash, at, list.length, crc32(list)])
      at += list.length
      lists.push(list)
    }
    const members = Buffer.alloc(this.members * MEMBER_BYTES)
    for (const [i, { bytes, text_bytes, first_ms, last_ms }] of this.#members.entries())
      writeNumbers(members, i * MEMBER_BYTES, [bytes, text_bytes, first_ms, last_ms])
    const buckets = Buffer.alloc(BUCKETS * BUCKET_BYTES)
    const requests = this.#requests.map((one) => one.bytes)
    for (const [i, one] of requests.entries())
      writeNumbers(buckets, i * BUCKET_BYTES, [one.length / REQUEST_BYTES, crc32(one)])
    head.writeUInt32LE(INDEX_MAGIC, 0)
    head.writeBigUInt64LE(BigInt(this.#file_bytes), 8)
    writeNumbers(head, 16, [hashes.length, this.members])
    const first = Buffer.concat([head, values, members, buckets])
    first.writeUInt32LE(crc32(first.subarray(8)), 4)
    return Buffer.concat([first, ...lists, ...requests])
  }
}

/** Records of one bucket, in memory that grows. */
class Records {
  #bytes = Buffer.alloc(64 * REQUEST_BYTES)
  #length = 0

  add(hash: number, member: number): void {
    if (this.#length === this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], 2 * this.#length)
    this.#bytes.writeUIntLE(hash & 0xffffff, this.#length, 3)
    this.#bytes.writeUInt16LE(member, this.#length + 3)
    this.#length += REQUEST_BYTES
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }
}

function listOf(numbers: readonly number[], members: number): Buffer {
  const bits = bitsLength(members)
  if (numbers.length * 2 > bits) {
    const list = Buffer.alloc(bits)
    for (const number of numbers)
      list[number >>> 3] = (list[number >>> 3] ?? 0) | (1 << (number & 7))
    return list
  }
  const list = Buffer.alloc(numbers.length * 2)
  for (const [i, number] of numbers.entries()) list.writeUInt16LE(number, i * 2)
  return list
}

function writeNumbers(to: Buffer, at: number, numbers: readonly number[]): void {
  for (const [i, number] of numbers.entries()) to.writeUInt32LE(number, at + i * 4)
}

/** Null for a line that is about missing entries, or that cannot be read. */
function entryOf(text: string): ActivityEntry | null {
  try {
    const entry = JSON.parse(text) as Partial<ActivityEntry> | null
    return typeof entry?.data === 'object' && entry.data !== null ? (entry as ActivityEntry) : null
  } catch {
    return null
  }
}
