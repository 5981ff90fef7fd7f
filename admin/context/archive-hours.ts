import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HourIndex, INDEX_HEAD_BYTES } from '../../core/activity/hour-index.ts'
import {
  hourFilesAmong,
  hourOfFile,
  INDEX_SUFFIX,
  startOfHour,
} from '../../core/activity/list-hour-files.ts'
import { readAt } from '../../core/activity/read-at.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { closeFile, DiskHangs, DiskReads } from './disk-reads.ts'

export interface ArchiveHour {
  /** Its path without the ending. */
  readonly path: string
  readonly name: string
  readonly start_ms: number
  /** Not compressed when the folder was listed. */
  readonly isPlain: boolean
  readonly hasIndex: boolean
}

/** An index, and the bytes of its file. */
export interface LoadedIndex {
  readonly index: HourIndex
  readonly bytes: number
}

/** A list is read again after this time. */
const LISTED_MS = 10_000
const FOLDERS_MAX = 64
/** Of all lists, which take some 250 bytes an hour. */
const HOURS_MAX = 50_000
/** Hours with damage that is remembered, and for how long: the file may be repaired. */
const DAMAGED_MAX = 1_000
const DAMAGED_MS = 600_000
export const UNSEARCHED_MAX = 100
/** In place of names, where the folder cannot be read. */
export const ALL_HOURS = 'all'
/** 30 days at 100 calls a second with some hundred agents take 22 MB. Those that were used last are kept. */
const CACHE_BYTES_MAX = 48 << 20
/** Nearly all indexes have fewer bytes before their lists. */
const FIRST_READ_BYTES = 1 << 16
/** Of what is before the lists: more than four million values have. */
const INDEX_BYTES_MAX = 1 << 26

/** The hours that archives have, and what their indexes begin with. Keeps a limited number of both in memory. */
export class ArchiveHours {
  readonly #folder: string
  readonly #redis: Pick<RedisClient, 'get'>
  readonly #nowMs: () => number
  /** All reads of archives go through this. */
  readonly disk: DiskReads
  #installation: string | null = null
  readonly #lists = new Map<string, { readonly read_ms: number; readonly hours: ArchiveHour[] }>()
  readonly #indexes = new Map<string, LoadedIndex>()
  readonly #damaged = new Map<string, number>()
  #bytes = 0

  constructor(
    folder: string,
    redis: Pick<RedisClient, 'get'>,
    nowMs: () => number,
    disk = new DiskReads(),
  ) {
    this.#folder = folder
    this.#redis = redis
    this.#nowMs = nowMs
    this.disk = disk
  }

  /**
   * From old to new, with all hours up to a time: that of the oldest entry in the store, or of a cursor. An hour that was
   * compressed or deleted meanwhile is noticed when it is opened. Null if the folder cannot be read.
   */
  async list(organization_id: string, up_to_ms: number): Promise<readonly ArchiveHour[] | null> {
    // No organization has a name that is the path of another.
    if (!/^[\w-]+$/.test(organization_id)) return []
    this.#installation ??= await this.#redis.get(REDIS_KEYS.installation)
    if (this.#installation === null) return []
    const folder = join(this.#folder, this.#installation, organization_id)
    const known = this.#lists.get(folder)
    const isNew = known !== undefined && this.#nowMs() - known.read_ms < LISTED_MS
    // A list that has a later hour cannot lack one: hours are added at its end.
    if (isNew && (known.hours.at(-1)?.start_ms ?? 0) >= up_to_ms) return known.hours
    const names = await this.disk
      .run(() => readdir(folder))
      .catch((error: unknown) => (isMissing(error) ? [] : null))
    if (names === null) return null
    const there = new Set(names)
    const hours = hourFilesAmong(names).map((file) => ({
      path: join(folder, hourOfFile(file)),
      name: hourOfFile(file),
      start_ms: startOfHour(file),
      isPlain: !file.endsWith('.gz'),
      hasIndex: there.has(`${hourOfFile(file)}${INDEX_SUFFIX}`),
    }))
    this.#keepList(folder, hours)
    return hours
  }

  #keepList(folder: string, hours: ArchiveHour[]): void {
    this.#lists.delete(folder)
    let kept = hours.length
    for (const { hours: others } of this.#lists.values()) kept += others.length
    if (this.#lists.size >= FOLDERS_MAX || kept > HOURS_MAX) this.#lists.clear()
    this.#lists.set(folder, { read_ms: this.#nowMs(), hours })
  }

  /** A part of the hour file cannot be read. */
  noteDamage(hour: ArchiveHour): void {
    if (this.#damaged.size >= DAMAGED_MAX) this.#damaged.clear()
    this.#damaged.set(hour.path, this.#nowMs())
  }

  /** The newest hours that cannot be searched as a whole: their index is not made yet, or a search has found damage. */
  async unsearched(organization_id: string): Promise<readonly string[]> {
    const hours = await this.list(organization_id, Number.POSITIVE_INFINITY)
    if (hours === null) return [ALL_HOURS]
    const noted_ms = this.#nowMs() - DAMAGED_MS
    const missing = hours.filter(
      ({ path, isPlain, hasIndex }) =>
        (!isPlain && !hasIndex) || (this.#damaged.get(path) ?? Number.NEGATIVE_INFINITY) > noted_ms,
    )
    return missing.slice(-UNSEARCHED_MAX).map(({ name }) => name)
  }

  /**
   * Null if the hour has no index that can be used.
   * @throws (rejects) DiskHangs
   */
  async index(hour: ArchiveHour): Promise<LoadedIndex | null> {
    const known = this.#indexes.get(hour.path)
    if (known !== undefined) {
      this.#indexes.delete(hour.path)
      this.#indexes.set(hour.path, known)
      return known
    }
    try {
      const loaded = await load(hour, this.disk)
      if (loaded === null) await this.discard(hour)
      else this.#keep(hour.path, loaded)
      return loaded
    } catch (error) {
      if (error instanceof DiskHangs) throw error
      return null
    }
  }

  /** A damaged index is removed, so that the process that writes the archive makes it again. */
  async discard(hour: ArchiveHour): Promise<void> {
    this.#forget(hour.path)
    await this.disk.run(() => rm(indexPath(hour), { force: true })).catch(() => undefined)
  }

  #keep(path: string, loaded: LoadedIndex): void {
    this.#forget(path)
    this.#indexes.set(path, loaded)
    this.#bytes += loaded.index.size
    for (const oldest of this.#indexes.keys()) {
      if (this.#bytes <= CACHE_BYTES_MAX) break
      this.#forget(oldest)
    }
  }

  #forget(path: string): void {
    this.#bytes -= this.#indexes.get(path)?.index.size ?? 0
    this.#indexes.delete(path)
  }
}

export const indexPath = ({ path }: ArchiveHour): string => `${path}${INDEX_SUFFIX}`

/** Deleted by retention, or compressed since the folder was listed. */
export const isMissing = (error: unknown): boolean =>
  (error as { code?: unknown }).code === 'ENOENT'

/** Null if it is damaged. */
async function load(hour: ArchiveHour, disk: DiskReads): Promise<LoadedIndex | null> {
  const file = await disk.open(indexPath(hour))
  try {
    const { size } = await disk.run(() => file.stat())
    const first = await disk.run(() => readAt(file, 0, Math.min(size, FIRST_READ_BYTES)))
    const length = HourIndex.lengthOf(first.subarray(0, INDEX_HEAD_BYTES))
    if (length === null || length > Math.min(size, INDEX_BYTES_MAX)) return null
    const bytes =
      length <= first.length
        ? Buffer.from(first.subarray(0, length))
        : await disk.run(() => readAt(file, 0, length))
    const index = HourIndex.read(bytes, hour.start_ms)
    return index === null ? null : { index, bytes: size }
  } finally {
    closeFile(file)
  }
}
