import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import {
  type ArchiveLine,
  archiveKeys,
  type ArchiveRoots,
} from '../../core/activity/archive-line.ts'
import { freeBytesOf } from '../../core/system/free-bytes-of.ts'
import { msOfPlace, placeBefore } from '../../core/activity/log-place.ts'
import { readLog } from '../../core/activity/read-log.ts'
import { readRowsAfter } from '../../core/activity/read-rows-after.ts'
import { entryBytesAfter } from '../../core/activity/entry-bytes-after.ts'
import type { PlacedBytes } from '../../core/activity/log-row.ts'
import { takeRows } from '../../core/activity/take-rows.ts'
import type { AlertCause } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { lease } from '../../core/redis/lease.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { storedArchiveKeys, writeArchiveKeys } from '../../core/store/archive-keys-file.ts'
import { readStoredKeys } from '../../core/store/stored-keys.ts'
import type { LogWatch } from '../context/log-watch.ts'
import type { RequestLoad } from '../context/request-load.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import { ArchiveChain } from './archive-chain.ts'
import type { compressHour } from './compress-hour.ts'
import { CompressProcess } from './compress-process.ts'

/** Rows of one read, and how many of their entries are archived in one write, before the next organization. */
const ROWS_MAX = 200
const BATCH = 1_000
const IDLE_MS = 1_000
const ERROR_PAUSE_MS = 5_000
/** One process at a time writes to an archive; when it dies, another continues after this time. */
const LEASE_MS = 10_000
/** The lease and the list of organizations are renewed this often. */
const RENEWAL_MS = LEASE_MS / 5
const RETENTION_INTERVAL_MS = 60_000
const SPACE_INTERVAL_MS = 2_000
const LAG_INTERVAL_MS = 5_000
const COMPRESS_INTERVAL_MS = 60_000
const RESUME_FACTOR = 1.1

export interface ArchiverParts {
  readonly folder: string
  /** Null: for ever. */
  readonly retention_ms: number | null
  readonly max_bytes: number
  /** Free space that is left on the disk of the folder. */
  readonly min_free_bytes: number
  /** For tests: free bytes on the disk of a folder. */
  readonly freeBytes?: (folder: string) => Promise<number>
  readonly redis: RedisClient
  readonly ring: KeyRing
  readonly name: string
  readonly load: RequestLoad
  readonly logs: Pick<LogWatch, 'mark' | 'grown'>
  readonly metrics: Pick<AdminMetrics, 'archive' | 'noArchive'>
  readonly log: Logger
  readonly nowMs: () => number
  readonly now: () => Date
}

/** Copies the logs of all organizations into files. Returns the function that stops it after everything is written. */
export function startArchiver(parts: ArchiverParts): () => Promise<void> {
  const archiver = new Archiver(parts)
  const running = archiver.run()
  return async () => {
    archiver.stop()
    await running
  }
}

class Archiver {
  readonly #parts: ArchiverParts
  readonly #stopped = new AbortController()
  #chains = new Map<string, ArchiveChain>()
  #folder = ''
  #archive_id = ''
  #organization_ids: readonly string[] = []
  #held_until_ms = Number.NEGATIVE_INFINITY
  /** Organizations whose last attempt has failed. */
  readonly #broken = new Set<string>()
  #retention_due_ms = 0
  #space_due_ms = 0
  #lag_due_ms = 0
  /** Of each organization, up to where its log is archived. */
  readonly #places = new Map<string, string>()
  /** One file at a time is compressed, while entries are archived. */
  #compressing: Promise<void> | null = null
  #compress_due_ms = 0
  #isStopped = false
  #isStopTold = false
  /** Of the encryption key that was active when they were read. */
  #roots: ArchiveRoots | null = null

  constructor(parts: ArchiverParts) {
    this.#parts = parts
    this.#compress_due_ms = parts.nowMs() + COMPRESS_INTERVAL_MS
  }

  stop(): void {
    this.#stopped.abort()
  }

  async run(): Promise<void> {
    const { redis, log, name, load, logs, metrics } = this.#parts
    const { signal } = this.#stopped
    let isWell = true
    while (!signal.aborted) {
      let pause_ms = IDLE_MS
      const { mark } = logs
      try {
        if (await this.#mayWrite()) {
          if ((await this.#hasRoom()) && (await this.#archiveAll())) pause_ms = 0
          await this.#removeOld()
          await this.#measureLag()
          this.#compressClosed()
        } else {
          this.#chains = new Map()
          metrics.noArchive()
        }
        if (this.#broken.size > 0) pause_ms = ERROR_PAUSE_MS
        isWell = true
      } catch (error) {
        // The files are authoritative; they are read again.
        this.#chains = new Map()
        this.#held_until_ms = Number.NEGATIVE_INFINITY
        pause_ms = ERROR_PAUSE_MS
        if (isWell)
          log.error({ err: error }, 'archiving the activity log failed; it will be retried')
        isWell = false
      }
      await logs.grown(mark, pause_ms, RENEWAL_MS, signal)
      if (pause_ms === 0) await load.quiet()
    }
    await this.#compressing
    await lease.release(redis, REDIS_KEYS.archiveWriter(this.#archive_id), name)
  }

  async #mayWrite(): Promise<boolean> {
    const { redis, nowMs } = this.#parts
    if (this.#archive_id === '') await this.#open()
    if (this.#roots?.primary_id !== this.#parts.ring.primary_id) await this.#readKeys()
    if (nowMs() < this.#held_until_ms) return true
    const asked_ms = nowMs()
    const [isHeld, organization_ids] = await Promise.all([
      this.#takeLease(),
      redis.hkeys(REDIS_KEYS.organizations),
    ])
    if (!isHeld) return false
    this.#organization_ids = organization_ids
    this.#held_until_ms = asked_ms + RENEWAL_MS
    return true
  }

  async #takeLease(): Promise<boolean> {
    const { redis, name } = this.#parts
    const key = REDIS_KEYS.archiveWriter(this.#archive_id)
    return (await lease.hold(redis, key, name, LEASE_MS)) !== 'not ours'
  }

  /** Deployments do not mix, also where one folder is given to several. */
  async #open(): Promise<void> {
    const installation = await this.#parts.redis.get(REDIS_KEYS.installation)
    if (installation === null)
      throw new Error('the store does not have the name of this deployment yet')
    this.#folder = join(this.#parts.folder, installation)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    this.#archive_id = archiveIdOf(this.#folder)
  }

  /** After a change of the encryption key, the next lines are written with the new one. */
  async #readKeys(): Promise<void> {
    const { redis, ring } = this.#parts
    const stored = await readStoredKeys(redis)
    writeArchiveKeys(this.#folder, stored)
    this.#roots = storedArchiveKeys(stored, ring)
    this.#chains = new Map()
  }

  /** Returns whether any log has more entries. */
  async #archiveAll(): Promise<boolean> {
    const { log } = this.#parts
    let hasMore = false
    for (const organization_id of this.#organization_ids)
      try {
        hasMore = (await this.#archive(organization_id)) || hasMore
        this.#broken.delete(organization_id)
      } catch (error) {
        // The others go on; the files of this one are read again.
        this.#chains.delete(organization_id)
        if (!this.#broken.has(organization_id))
          log.error(
            { err: error, organization_id },
            'archiving the activity log failed; it will be retried',
          )
        this.#broken.add(organization_id)
      }
    return hasMore
  }

  /** Returns whether there is more. */
  async #archive(organization_id: string): Promise<boolean> {
    const { redis, load } = this.#parts
    const chain = this.#chains.get(organization_id) ?? (await this.#openChain(organization_id))
    this.#places.set(organization_id, chain.place)
    const read = await readRowsAfter(redis, organization_id, chain.place, ROWS_MAX)
    const rows = takeRows(read.rows, BATCH)
    if (rows.length === 0) return false
    const entries = entryBytesAfter(chain.place, rows)
    const missing = Math.max(0, read.trimmed - chain.head.n)
    await chain.append(linesOf(entries, chain.head.n, missing), () => load.quiet())
    this.#places.set(organization_id, chain.place)
    const { n, mac } = chain.head
    await redis.hset(REDIS_KEYS.archiveHeads(this.#archive_id), organization_id, `${n} ${mac}`)
    return rows.length < read.rows.length || read.has_more
  }

  /** The store is asked first: what it knows of is on the disk by then, unless somebody has taken it away. */
  async #openChain(organization_id: string): Promise<ArchiveChain> {
    const { redis, log, now } = this.#parts
    const stored = await redis.hget(REDIS_KEYS.archiveHeads(this.#archive_id), organization_id)
    const known_n = Number(stored?.split(' ')[0] ?? 0)
    const folder = join(this.#folder, organization_id)
    if (this.#roots === null) throw new Error('the archive keys have not been read')
    const chain = new ArchiveChain(folder, archiveKeys(this.#roots, organization_id))
    const missing = await chain.noteCut(known_n, () => this.#placeBefore(organization_id))
    this.#chains.set(organization_id, chain)
    if (missing === 0) return chain
    const title = `${missing} archived entries are missing from the archive.`
    log.error({ organization_id, missing, after_n: chain.head.n }, title)
    const cause = { kind: 'activity_lost', severity: 'critical', title } as const
    await raiseAlert(
      redis,
      organization_id,
      { ...cause, about: 'archive', occurrence: { missing, after_n: chain.head.n } },
      now(),
    )
    return chain
  }

  /** A place just before all entries that the store has, so that they are archived again after it. */
  async #placeBefore(organization_id: string): Promise<string> {
    const { redis } = this.#parts
    const { rows } = await readLog(redis, organization_id, '0-0', 1)
    const first = rows[0]?.entries()[0]
    if (first !== undefined) return placeBefore(first.place)
    // Entries get their places from the clock of the store.
    const [seconds = 0] = await redis.time()
    return `${Number(seconds) * 1000}-0`
  }

  /** A full disk would stop the store, which is often on the same one, and with it every call and kill. */
  async #hasRoom(): Promise<boolean> {
    const { min_free_bytes, freeBytes = freeBytesOf, nowMs, log, metrics } = this.#parts
    if (nowMs() < this.#space_due_ms) return !this.#isStopped
    this.#space_due_ms = nowMs() + SPACE_INTERVAL_MS
    const free_bytes = await freeBytes(this.#folder)
    metrics.archive({ agw_archive_free_bytes: free_bytes })
    const wasStopped = this.#isStopped
    // Somewhat more to go on, so that it does not stop and go.
    this.#isStopped = free_bytes < min_free_bytes * (wasStopped ? RESUME_FACTOR : 1)
    if (this.#isStopped) await this.#tellStop(free_bytes)
    else if (wasStopped)
      log.warn({ free_bytes }, 'archiving the activity log continues: there is disk space again')
    this.#isStopTold = this.#isStopped
    return !this.#isStopped
  }

  /** Once; again only if the store did not take the alert. */
  async #tellStop(free_bytes: number): Promise<void> {
    if (this.#isStopTold) return
    const { min_free_bytes, log } = this.#parts
    const title = `Archiving has stopped: its disk has less than ${min_free_bytes} bytes of free space.`
    log.error({ free_bytes, folder: this.#folder }, title)
    await this.#alertAll({
      kind: 'archive_stopped',
      severity: 'critical',
      about: 'archive_stopped',
      title,
      occurrence: { free_bytes, min_free_bytes },
    })
  }

  /** In the background. */
  #compressClosed(): void {
    const { nowMs, log } = this.#parts
    if (this.#compressing !== null || nowMs() < this.#compress_due_ms) return
    const { signal } = this.#stopped
    const compressor = new CompressProcess()
    const compress: typeof compressHour = (...of) => compressor.compress(...of)
    const compressAll = async (): Promise<void> => {
      for (const chain of this.#chains.values())
        while (!signal.aborted && (await chain.compressNext(signal, compress)));
    }
    this.#compressing = compressAll()
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'an archive file could not be compressed')
      })
      .finally(() => {
        compressor.end()
        this.#compress_due_ms = nowMs() + COMPRESS_INTERVAL_MS
        this.#compressing = null
      })
  }

  async #measureLag(): Promise<void> {
    const { redis, nowMs, now, metrics } = this.#parts
    if (nowMs() < this.#lag_due_ms) return
    this.#lag_due_ms = nowMs() + LAG_INTERVAL_MS
    const now_ms = now().getTime()
    let oldest_ms = now_ms
    for (const [organization_id, place] of this.#places) {
      const [next] = (await readLog(redis, organization_id, place, 1)).rows
      if (next !== undefined) oldest_ms = Math.min(oldest_ms, msOfPlace(next.place))
    }
    metrics.archive({ agw_archive_lag_seconds: (now_ms - oldest_ms) / 1000 })
  }

  async #removeOld(): Promise<void> {
    const { retention_ms, nowMs, now } = this.#parts
    if (nowMs() < this.#retention_due_ms) return
    this.#retention_due_ms = nowMs() + RETENTION_INTERVAL_MS
    if (retention_ms !== null)
      for (const chain of this.#chains.values()) chain.removeBefore(now().getTime() - retention_ms)
    await this.#keepWithin(this.#parts.max_bytes)
  }

  /** The oldest hours of all organizations together go first. */
  async #keepWithin(max_bytes: number): Promise<void> {
    const chains = [...this.#chains.values()]
    const closed = chains.flatMap((chain) => chain.closedHours().map((one) => ({ chain, ...one })))
    let bytes = [
      ...closed.map((one) => one.bytes),
      ...chains.map((chain) => chain.openBytes),
    ].reduce((sum, some) => sum + some, 0)
    let removed: string | null = null
    for (const one of closed.toSorted((a, b) => (a.hour < b.hour ? -1 : 1))) {
      if (bytes <= max_bytes) break
      one.chain.removeUpTo(one.hour)
      bytes -= one.bytes
      removed = one.hour
    }
    this.#parts.metrics.archive({ agw_archive_bytes: bytes })
    if (removed === null) return
    const title = `The archive has reached its maximum size; entries up to ${removed}:59 UTC were deleted from it.`
    this.#parts.log.warn({ bytes, max_bytes }, title)
    await this.#alertAll({
      kind: 'archive_trimmed',
      severity: 'medium',
      about: 'archive_trimmed',
      title,
      occurrence: { bytes, max_bytes, deleted_up_to: removed },
    })
  }

  async #alertAll(cause: AlertCause): Promise<void> {
    const { redis, now } = this.#parts
    for (const organization_id of await redis.hkeys(REDIS_KEYS.organizations))
      await raiseAlert(redis, organization_id, cause, now())
  }
}

/** Entries that were gone before they could be archived are said to be missing, so that they are not taken for removed. */
function linesOf(entries: readonly PlacedBytes[], last_n: number, missing: number): ArchiveLine[] {
  const lines: ArchiveLine[] = []
  let n = last_n + missing
  if (missing > 0) {
    const entry_text = JSON.stringify({ gap: { missing } })
    lines.push({ n, place: entries[0]?.place ?? '0-0', entry_text })
  }
  for (const { place, text } of entries) lines.push({ n: ++n, place, entry_text: text })
  return lines
}

const ID_FILE = 'archive-id'

/** Names the folder, wherever it is mounted. */
export function archiveIdOf(folder: string): string {
  const file = join(folder, ID_FILE)
  try {
    writeFileSync(file, randomBytes(12).toString('hex'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8').trim()
}
