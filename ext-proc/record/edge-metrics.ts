import type { ActivityEntry, StepMark } from '../../core/activity/activity-entry.ts'
import { type EdgeSnapshot, SNAPSHOT_INTERVAL_MS } from '../../core/metrics/edge-snapshot.ts'
import {
  type EdgeCounter,
  type EdgeHistogram,
  type EdgeNumber,
  type MetricName,
  STEP_BUCKETS_S,
} from '../../core/metrics/metric-catalogue.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

type Decision = NonNullable<ActivityEntry['decision']>

interface Histogram {
  readonly counts: number[]
  sum_us: number
}

const BOUNDS_US = STEP_BUCKETS_S.map((bound) => bound * 1e6)

/** What this process counts. The hot path only adds numbers; every few seconds a snapshot goes to the store. */
export class EdgeMetrics {
  /** By verdict and reason; the reasons are a closed set. */
  readonly #calls = new Map<string, number>()
  /** By step; the steps are a closed set. */
  readonly #steps = new Map<string, Histogram>()
  #timer: NodeJS.Timeout | null = null

  decided(decision: Decision, reason: string, steps: readonly StepMark[]): void {
    const key = `${decision} ${reason}`
    this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1)
    for (const { step, took_us } of steps) {
      let histogram = this.#steps.get(step)
      if (histogram === undefined) {
        histogram = { counts: Array.from({ length: BOUNDS_US.length + 1 }, () => 0), sum_us: 0 }
        this.#steps.set(step, histogram)
      }
      let i = 0
      while (i < BOUNDS_US.length && took_us > (BOUNDS_US[i] ?? 0)) i++
      histogram.counts[i] = (histogram.counts[i] ?? 0) + 1
      histogram.sum_us += took_us
    }
  }

  snapshot(at_ms: number, numbers: Readonly<Partial<Record<EdgeNumber, number>>>): EdgeSnapshot {
    const counters = {
      agw_calls_total: [...this.#calls].map(([key, value]) => {
        const [verdict = '', reason = ''] = key.split(' ')
        return { labels: { verdict, reason }, value }
      }),
    } satisfies Record<EdgeCounter, object>
    const histograms = {
      agw_step_duration_seconds: [...this.#steps].map(([step, { counts, sum_us }]) => ({
        labels: { step },
        counts,
        sum: sum_us / 1e6,
      })),
    } satisfies Record<EdgeHistogram, object>
    return {
      at_ms,
      values: [
        ...named(counters),
        ...Object.entries(numbers).map(([name, value]) => ({
          name: name as EdgeNumber,
          labels: {},
          value,
        })),
      ],
      histograms: named(histograms),
    }
  }

  /** Writes a snapshot now and then; one that cannot be written is followed by the next. */
  publish(
    redis: RedisClient,
    process_id: string,
    read: () => Readonly<Partial<Record<EdgeNumber, number>>>,
  ): () => Promise<void> {
    this.#timer = setInterval(() => {
      const text = JSON.stringify(this.snapshot(Date.now(), read()))
      redis.hset(REDIS_KEYS.edgeMetrics, process_id, text).catch(() => undefined)
    }, SNAPSHOT_INTERVAL_MS)
    return async () => {
      if (this.#timer !== null) clearInterval(this.#timer)
      await redis.hdel(REDIS_KEYS.edgeMetrics, process_id).catch(() => undefined)
    }
  }
}

/** The samples of several metrics as one list, each with the name of its metric. */
const named = <Name extends MetricName, Sample>(
  samples: Readonly<Record<Name, readonly Sample[]>>,
): (Sample & { readonly name: Name })[] =>
  (Object.entries(samples) as [Name, readonly Sample[]][]).flatMap(([name, list]) =>
    list.map((sample) => ({ name, ...sample })),
  )
