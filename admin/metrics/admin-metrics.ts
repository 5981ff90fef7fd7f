import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type EdgeSnapshot, SNAPSHOT_MAX_AGE_MS } from '../../core/metrics/edge-snapshot.ts'
import {
  type AdminCounter,
  type AdminGauge,
  type AdminHistogram,
  METRICS,
  type MetricName,
  PROPAGATION_BUCKETS_S,
} from '../../core/metrics/metric-catalogue.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { isStoreError } from '../../core/redis/is-store-error.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { liveEdges } from '../../core/control/live-edges.ts'
import { renderEdges } from '../../core/metrics/render-edges.ts'

/** Interval of the samples of the event loop's lag. Each wakes the process: at the default of 10 ms, most of what it costs idle. */
const LAG_PRECISION_MS = 200

/** Metrics of this process, available without the store. */
type OwnGauge = 'agw_store_up' | 'agw_streams_open'
/** Metrics of the process that writes the archive. */
export type ArchiveGauge =
  | 'agw_archive_bytes'
  | 'agw_archive_free_bytes'
  | 'agw_archive_lag_seconds'
type StoredGauge = Exclude<AdminGauge, OwnGauge | ArchiveGauge | 'agw_log_export_lag_seconds'>

interface MetricsParts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly now: () => Date
  readonly streams: () => number
}

/** The metrics of this process, of the store, read on demand, and of the edges. */
export class AdminMetrics {
  readonly #parts: MetricsParts
  readonly #registry = new Registry()
  readonly #counters: Readonly<Record<AdminCounter, Counter>>
  readonly #histograms: Readonly<Record<AdminHistogram, Histogram>>
  readonly #gauges = new Map<MetricName, Gauge>()
  #archive: Partial<Record<ArchiveGauge, number>> = {}
  #export_lag_s: number | null = null

  constructor(parts: MetricsParts) {
    this.#parts = parts
    const registers = [this.#registry]
    collectDefaultMetrics({
      register: this.#registry,
      prefix: 'agw_admin_',
      eventLoopMonitoringPrecision: LAG_PRECISION_MS,
    })
    const of = <N extends MetricName>(name: N) => ({
      name,
      help: METRICS[name].help,
      labelNames: [...METRICS[name].labels],
      registers,
    })
    this.#counters = {
      agw_kills_total: new Counter(of('agw_kills_total')),
      agw_log_export_entries_total: new Counter(of('agw_log_export_entries_total')),
      agw_webhook_attempts_total: new Counter(of('agw_webhook_attempts_total')),
    }
    this.#histograms = {
      agw_kill_propagation_seconds: new Histogram({
        ...of('agw_kill_propagation_seconds'),
        buckets: [...PROPAGATION_BUCKETS_S],
      }),
    }
    for (const name of Object.keys(METRICS) as MetricName[])
      if (METRICS[name].source === 'admin' && METRICS[name].type === 'gauge')
        this.#gauges.set(name, new Gauge(of(name)))
  }

  killed(method: string, propagation_ms: number): void {
    this.#counters.agw_kills_total.inc({ method })
    this.#histograms.agw_kill_propagation_seconds.observe(propagation_ms / 1000)
  }

  attempted(outcome: string): void {
    this.#counters.agw_webhook_attempts_total.inc({ outcome })
  }

  archive(values: Partial<Record<ArchiveGauge, number>>): void {
    this.#archive = { ...this.#archive, ...values }
  }

  /** Another process writes the archive. */
  noArchive(): void {
    this.#archive = {}
  }

  exported(outcome: 'accepted' | 'rejected' | 'missing', entries: number): void {
    this.#counters.agw_log_export_entries_total.inc({ outcome }, entries)
  }

  /** Null where another process exports. */
  exportLag(seconds: number | null): void {
    this.#export_lag_s = seconds
  }

  /** Without the store, only the metrics of this process: alerts about an outage need them most. */
  async render(): Promise<string> {
    const stored = await Promise.all([this.#read(), this.#edges()]).catch((error: unknown) => {
      if (isStoreError(error)) return null
      throw error
    })
    const [values, edges] = stored ?? [{}, new Map<string, EdgeSnapshot>()]
    const known: Partial<Record<MetricName, number>> & Record<OwnGauge, number> = {
      ...values,
      ...this.#archive,
      ...(this.#export_lag_s === null ? {} : { agw_log_export_lag_seconds: this.#export_lag_s }),
      agw_store_up: stored === null ? 0 : 1,
      agw_streams_open: this.#parts.streams(),
    }
    for (const [name, gauge] of this.#gauges) {
      const value = known[name]
      // An old value would be reported as current.
      if (value === undefined) gauge.remove()
      else gauge.set(value)
    }
    return (await this.#registry.metrics()) + renderEdges(edges)
  }

  async #read(): Promise<Record<StoredGauge, number>> {
    const { redis, lease_ms, now } = this.#parts
    const now_ms = now().getTime()
    const organization_ids = await redis.hkeys(REDIS_KEYS.organizations)
    const [memory, live, outbox, oldest, due, open, lags] = await Promise.all([
      // A managed service may hide it.
      redis.info('memory').catch(() => ''),
      liveEdges(redis, lease_ms),
      redis.xlen(REDIS_KEYS.outbox),
      redis.xrange(REDIS_KEYS.outbox, '-', '+', 'COUNT', 1),
      redis.zrange(REDIS_KEYS.webhooksDue, '0', '0', 'WITHSCORES'),
      Promise.all(organization_ids.map((org) => redis.hlen(REDIS_KEYS.alertsOpen(org)))),
      Promise.all(organization_ids.map((org) => this.#undigestedSince(org))),
    ])
    const ageOf = (ms: number | null): number => (ms === null ? 0 : Math.max(0, now_ms - ms) / 1000)
    return {
      agw_store_used_bytes: numberIn(memory, 'used_memory'),
      agw_store_max_bytes: numberIn(memory, 'maxmemory'),
      agw_edges: live.size,
      agw_outbox_events: outbox,
      agw_outbox_age_seconds: ageOf(oldest[0] === undefined ? null : msOfPlace(oldest[0][0])),
      agw_deliveries_overdue_seconds: ageOf(due[1] === undefined ? null : Number(due[1])),
      agw_alerts_open: open.reduce((sum, count) => sum + count, 0),
      agw_activity_undigested_seconds: Math.max(0, ...lags.map(ageOf)),
    }
  }

  async #undigestedSince(organization_id: string): Promise<number | null> {
    const { redis } = this.#parts
    const digest = REDIS_KEYS.activityDigest(organization_id)
    const position = (await redis.hget(digest, 'position')) ?? '0-0'
    const key = REDIS_KEYS.activity(organization_id)
    const [next] = await redis.xrange(key, `(${position}`, '+', 'COUNT', 1)
    return next === undefined ? null : msOfPlace(next[0])
  }

  async #edges(): Promise<Map<string, EdgeSnapshot>> {
    const { redis, now } = this.#parts
    const oldest_ms = now().getTime() - SNAPSHOT_MAX_AGE_MS
    const processes = new Map<string, EdgeSnapshot>()
    for (const [process_id, text] of Object.entries(await redis.hgetall(REDIS_KEYS.edgeMetrics))) {
      const snapshot = JSON.parse(text) as EdgeSnapshot
      if (snapshot.at_ms >= oldest_ms) processes.set(process_id, snapshot)
      // The counts of a killed process are kept.
      else if (snapshot.at_ms < oldest_ms - SNAPSHOT_MAX_AGE_MS)
        await redis.hdel(REDIS_KEYS.edgeMetrics, process_id)
    }
    return byLabel(processes)
  }
}

const numberIn = (info: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)

/** The label of a process is the name of the edge; where several have one name, the newest has it and the others their id. */
function byLabel(processes: ReadonlyMap<string, EdgeSnapshot>): Map<string, EdgeSnapshot> {
  const newest = [...processes].sort(([, a], [, b]) => b.at_ms - a.at_ms)
  const labelled = new Map<string, EdgeSnapshot>()
  for (const [process_id, snapshot] of newest) {
    const [name = process_id] = process_id.split('/')
    labelled.set(labelled.has(name) ? process_id : name, snapshot)
  }
  return labelled
}
