import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { EgressProxy } from '../../core/egress/egress-proxy.ts'
import { entryBytesAfter } from '../../core/activity/entry-bytes-after.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'
import type { PlacedBytes } from '../../core/activity/log-row.ts'
import { readRowsAfter } from '../../core/activity/read-rows-after.ts'
import { takeRows } from '../../core/activity/take-rows.ts'
import type { EventName } from '../../core/catalogue/events.ts'
import { ExportFailures, type ExportKind } from '../../core/otlp/export-failures.ts'
import { isStoreError } from '../../core/redis/is-store-error.ts'
import { lease } from '../../core/redis/lease.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { RequestLoad } from '../context/request-load.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import { exportedEntry } from './exported-entry.ts'
import { type LogRecord, gapRecord, logRecordOf } from './log-record.ts'
import { LogReceiver } from './log-receiver.ts'

/** Rows of one read, and about how many of their entries are sent before those of the next organization. */
const ROWS_MAX = 200
const BATCH = 250
/** Entries of one request have at most so many bytes together, unless it is a single one. Building it takes some 3 ms. */
const REQUEST_BYTES = 524_288
const SEND_LIMIT_MS = 10_000
/** The pause after everything is exported, and the first after a failure. */
const PAUSE_MS = 1_000
/** One process at a time exports. It renews its lease before each request. */
const LEASE_MS = 3 * SEND_LIMIT_MS
/** Entries that the receiver refuses are logged, at most so often. */
const REFUSAL_LOG_INTERVAL_MS = 10_000

export interface LogExportParts {
  /** Of the receiver, an OTLP/HTTP endpoint for logs. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly proxy: EgressProxy | null
  /** Entries with another event are left out. */
  readonly events: readonly EventName[]
  /** The organization that is alerted of a receiver that fails. */
  readonly organization_id: string
  readonly installation_id: string
  readonly redis: RedisClient
  readonly name: string
  readonly load: RequestLoad
  readonly metrics: Pick<AdminMetrics, 'exported' | 'exportLag'>
  readonly log: Logger
  readonly nowMs: () => number
  readonly now: () => Date
  /** For tests, in place of the usual times. */
  readonly alert_after_ms?: number
  readonly pause_ms?: number
}

/**
 * Sends the logs of all organizations to a receiver, each entry at least once and in the order of its log. Returns the function
 * that stops it.
 */
export function startLogExport(parts: LogExportParts): () => Promise<void> {
  const exporter = new LogExporter(parts)
  const running = exporter.run()
  return async () => {
    exporter.stop()
    await running
  }
}

/** How far the log of an organization is exported: the last entry, and how many the log had up to it; null before the first. */
interface Position {
  readonly place: string
  readonly n: number | null
}

/** The receiver cannot be reached, or does not accept requests of this deployment. */
class ReceiverFailed extends Error {
  readonly retry_after_ms: number

  constructor(problem: string, retry_after_ms: number) {
    super(problem)
    this.retry_after_ms = retry_after_ms
  }
}

class LeaseLost extends Error {}

const LOGS: ExportKind = {
  cause: {
    kind: 'log_export_failing',
    severity: 'high',
    about: 'log_export',
    title: 'Activity entries cannot be exported.',
  },
  problem_key: REDIS_KEYS.logExportProblem,
  failed: 'activity entries could not be exported',
  works_again: 'activity entries are exported again',
  is_logged_once: false,
}

/** In place of an organization: the export of all. */
const EVERYTHING = 'all organizations'
class LogExporter {
  readonly #parts: LogExportParts
  readonly #events: ReadonlySet<string>
  readonly #receiver: LogReceiver
  readonly #stopped = new AbortController()
  readonly #failures: ExportFailures
  /** Of each organization with entries that are not exported, the time of the oldest. */
  readonly #waiting = new Map<string, number>()
  readonly #pause_ms: number
  #refusal_log_due_ms = 0

  constructor(parts: LogExportParts) {
    this.#parts = parts
    const { url, headers, events, installation_id, proxy, pause_ms = PAUSE_MS } = parts
    this.#pause_ms = pause_ms
    this.#failures = new ExportFailures(LOGS, { ...parts, pause_ms })
    this.#events = new Set(events)
    const { signal } = this.#stopped
    const to = { url, headers, installation_id, limit_ms: SEND_LIMIT_MS, signal, proxy }
    this.#receiver = new LogReceiver(to)
  }

  stop(): void {
    this.#stopped.abort()
  }

  async run(): Promise<void> {
    const { redis, name, load, metrics } = this.#parts
    const { signal } = this.#stopped
    while (!signal.aborted) {
      let pause_ms = this.#pause_ms
      try {
        if (await this.#exportAll()) pause_ms = 0
      } catch (error) {
        pause_ms = await this.#failed(error)
      }
      await wait(pause_ms, undefined, { signal }).catch(() => undefined)
      if (pause_ms === 0) await load.quiet()
    }
    metrics.exportLag(null)
    await this.#receiver.close()
    await lease.release(redis, REDIS_KEYS.logExporter, name)
  }

  /** Returns whether any log has more entries. */
  async #exportAll(): Promise<boolean> {
    const { redis } = this.#parts
    await this.#takeLease()
    const organization_ids = await redis.hkeys(REDIS_KEYS.organizations)
    this.#forgetOthers(new Set(organization_ids))
    let hasMore = false
    for (const organization_id of organization_ids) {
      if (this.#stopped.signal.aborted) return false
      if (this.#failures.isPaused(organization_id)) continue
      try {
        if (await this.#export(organization_id)) hasMore = true
        await this.#failures.worked(organization_id)
      } catch (error) {
        if (!(await this.#isOfOneLog(error))) throw error
        await this.#failures.failed(organization_id, messageOf(error), retryAfterOf(error))
      }
    }
    this.#showLag()
    return hasMore
  }

  #forgetOthers(organization_ids: ReadonlySet<string>): void {
    for (const id of this.#waiting.keys()) if (!organization_ids.has(id)) this.#waiting.delete(id)
    this.#failures.keep((what) => what === EVERYTHING || organization_ids.has(what))
  }

  #showLag(): void {
    const { metrics, now } = this.#parts
    const now_ms = now().getTime()
    metrics.exportLag((now_ms - Math.min(now_ms, ...this.#waiting.values())) / 1000)
  }

  /** Whether the other logs can be exported: an entry cannot be read, or makes a receiver fail that works. */
  async #isOfOneLog(error: unknown): Promise<boolean> {
    if (this.#stopped.signal.aborted || error instanceof LeaseLost) return false
    if (!(error instanceof ReceiverFailed)) return !isStoreError(error)
    return (await this.#receiver.probe()).kind === 'accepted'
  }

  /** @throws LeaseLost while another process exports */
  async #takeLease(): Promise<void> {
    const { redis, name } = this.#parts
    if ((await lease.hold(redis, REDIS_KEYS.logExporter, name, LEASE_MS)) === 'not ours')
      throw new LeaseLost()
  }

  /** Returns whether there is more. */
  async #export(organization_id: string): Promise<boolean> {
    const { redis, metrics, now } = this.#parts
    const { place, n } = await this.#position(organization_id)
    const read = await readRowsAfter(redis, organization_id, place, ROWS_MAX)
    const rows = takeRows(read.rows, BATCH)
    const [first] = rows
    if (first === undefined) {
      this.#waiting.delete(organization_id)
      return false
    }
    this.#waiting.set(organization_id, msOfPlace(first.place))
    const entries = entryBytesAfter(place, rows)
    const missing = n === null ? 0 : Math.max(0, read.trimmed - n)
    const note = (last: string, count: number): Promise<unknown> =>
      redis.hset(REDIS_KEYS.logExports, organization_id, `${last} ${count}`)
    let done = (n ?? read.trimmed) + missing
    const [next] = entries
    if (missing > 0 && next !== undefined) {
      const gap = { missing, at_ms: msOfPlace(next.place) }
      await this.#send(organization_id, [gapRecord(gap, now())])
      metrics.exported('missing', missing)
      await note(place, done)
    }
    for (const request of requestsOf(entries)) {
      const records = request.map(exportedEntry).flatMap((one) => {
        const isExported = one.entry === null || this.#events.has(one.entry.event)
        return isExported ? [logRecordOf(one, now())] : []
      })
      if (records.length > 0) await this.#send(organization_id, records)
      done += request.length
      await note(request.at(-1)?.place ?? place, done)
    }
    const hasMore = rows.length < read.rows.length || read.has_more
    // What follows is at most as old as the last row that is exported.
    if (hasMore) this.#waiting.set(organization_id, msOfPlace(rows.at(-1)?.place ?? first.place))
    else this.#waiting.delete(organization_id)
    return hasMore
  }

  async #position(organization_id: string): Promise<Position> {
    const stored = await this.#parts.redis.hget(REDIS_KEYS.logExports, organization_id)
    if (stored === null) return { place: '0-0', n: null }
    const [place = '0-0', n] = stored.split(' ')
    return { place, n: Number(n) }
  }

  /** What the receiver refuses as a whole is sent in parts, until only the entries that it cannot take are left out. */
  async #send(organization_id: string, records: readonly LogRecord[]): Promise<void> {
    const { metrics } = this.#parts
    await this.#takeLease()
    let outcome = await this.#receiver.send(organization_id, records)
    if (outcome.kind === 'refused' && records.length === 1) {
      const empty = await this.#receiver.probe()
      // It refuses everything, as a server does that expects TLS or another form.
      if (empty.kind !== 'accepted') throw new ReceiverFailed(outcome.problem, 0)
      // Again, because it may have begun to accept entries in between.
      outcome = await this.#receiver.send(organization_id, records)
    }
    if (outcome.kind === 'failed') throw new ReceiverFailed(outcome.problem, outcome.retry_after_ms)
    if (outcome.kind === 'accepted') {
      await this.#failures.worked(EVERYTHING)
      const rejected = Math.min(outcome.rejected, records.length)
      metrics.exported('accepted', records.length - rejected)
      if (rejected > 0) this.#refused(rejected, outcome.message, records)
      return
    }
    if (records.length === 1) {
      this.#refused(1, outcome.problem, records)
      return
    }
    const half = Math.ceil(records.length / 2)
    await this.#send(organization_id, records.slice(0, half))
    await this.#send(organization_id, records.slice(half))
  }

  #refused(count: number, problem: string, [first]: readonly LogRecord[]): void {
    const { metrics, log, nowMs } = this.#parts
    metrics.exported('rejected', count)
    if (nowMs() < this.#refusal_log_due_ms) return
    this.#refusal_log_due_ms = nowMs() + REFUSAL_LOG_INTERVAL_MS
    log.warn(
      { count, problem, at: first?.timeUnixNano },
      'the log receiver has rejected activity entries',
    )
  }

  /** Returns how long to wait, in ms. */
  async #failed(error: unknown): Promise<number> {
    if (error instanceof LeaseLost) {
      this.#parts.metrics.exportLag(null)
      return this.#pause_ms
    }
    const isStore = !(error instanceof ReceiverFailed) && isStoreError(error)
    // An unavailable store is reported elsewhere.
    if (this.#stopped.signal.aborted || isStore) return this.#pause_ms
    this.#showLag()
    return await this.#failures.failed(EVERYTHING, messageOf(error), retryAfterOf(error))
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

const retryAfterOf = (error: unknown): number =>
  error instanceof ReceiverFailed ? error.retry_after_ms : 0

function* requestsOf(entries: readonly PlacedBytes[]): Generator<readonly PlacedBytes[]> {
  let request: PlacedBytes[] = []
  let size_bytes = 0
  for (const [i, entry] of entries.entries()) {
    request.push(entry)
    size_bytes += entry.text.length
    const next = entries[i + 1]
    if (next !== undefined && size_bytes + next.text.length <= REQUEST_BYTES) continue
    yield request
    request = []
    size_bytes = 0
  }
}
