import type { ActivityEntry, StepMark } from '../../core/activity/activity-entry.ts'
import { onBeat } from '../../core/system/on-beat.ts'
import { type EdgeSnapshot, SNAPSHOT_INTERVAL_S } from '../../core/metrics/edge-snapshot.ts'
import {
  type EdgeCounter,
  type EdgeHistogram,
  type EdgeNumber,
  type MetricName,
  STEP_BUCKETS_S,
} from '../../core/metrics/metric-catalogue.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { ProcessLoad } from './process-load.ts'

/** What is not the same for every process. */
export type OwnNumber = Exclude<EdgeNumber, keyof ReturnType<ProcessLoad['read']>>

type Decision = NonNullable<ActivityEntry['decision']>

interface Counted {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Histogram {
  readonly counts: number[]
  sum_us: number
}

/** Series of one process; calls of further integrations are counted together. */
const INTEGRATIONS_MAX = 500

const BOUNDS_US = STEP_BUCKETS_S.map((bound) => bound * 1e6)

/** What this process counts. The hot path only adds numbers; every few seconds a snapshot goes to the store. */
export class EdgeMetrics {
  /** By verdict and reason; the reasons are a closed set. */
  readonly #calls = new Map<string, number>()
  /** By step; the steps are a closed set. */
  readonly #steps = new Map<string, Histogram>()
  /** By integration and class of the answer. */
  readonly #answers = new Map<string, number>()
  readonly #integrations = new Set<string>()
  /** By reason. */
  readonly #envoyRefusals = new Map<string, number>()

  decided(decision: Decision, reason: string, steps: readonly StepMark[]): void {
    add(this.#calls, `${decision} ${reason}`)
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

  /** How a call that was allowed has ended. */
  answered(integration_id: string, answer: string): void {
    const isCounted =
      this.#integrations.has(integration_id) || this.#integrations.size < INTEGRATIONS_MAX
    if (isCounted) this.#integrations.add(integration_id)
    add(this.#answers, `${isCounted ? integration_id : 'other'} ${answer}`)
  }

  refusedByEnvoy(reason: Reason): void {
    add(this.#envoyRefusals, reason)
  }

  snapshot(at_ms: number, numbers: Readonly<Partial<Record<EdgeNumber, number>>>): EdgeSnapshot {
    const counters: Readonly<Record<EdgeCounter, readonly Counted[]>> = {
      agw_calls_total: [...this.#calls].map(([key, value]) => {
        const [verdict = '', reason = ''] = key.split(' ')
        return { labels: { verdict, reason }, value }
      }),
      agw_answers_total: [...this.#answers].map(([key, value]) => {
        const [integration = '', answer = ''] = key.split(' ')
        return { labels: { integration, class: answer }, value }
      }),
      agw_envoy_refusals_total: [...this.#envoyRefusals].map(([reason, value]) => ({
        labels: { reason },
        value,
      })),
    }
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
    read: () => Readonly<Partial<Record<OwnNumber, number>>>,
  ): PublishedMetrics {
    const load = new ProcessLoad()
    let latest = load.read()
    const snapshot = (): EdgeSnapshot => this.snapshot(Date.now(), { ...read(), ...latest })
    const stop = onBeat(SNAPSHOT_INTERVAL_S, () => {
      latest = load.read()
      redis
        .hset(REDIS_KEYS.edgeMetrics, process_id, JSON.stringify(snapshot()))
        .catch(() => undefined)
    })
    return {
      snapshot,
      stop: async () => {
        stop()
        await redis.hdel(REDIS_KEYS.edgeMetrics, process_id).catch(() => undefined)
      },
    }
  }
}

/** The metrics of a running process. */
export interface PublishedMetrics {
  /** The counters now. The load of the process is that of the latest interval. */
  readonly snapshot: () => EdgeSnapshot
  /** Stops writing, and removes what was written. */
  readonly stop: () => Promise<void>
}

const add = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

/** The samples of several metrics as one list, each with the name of its metric. */
const named = <Name extends MetricName, Sample>(
  samples: Readonly<Record<Name, readonly Sample[]>>,
): (Sample & { readonly name: Name })[] =>
  (Object.entries(samples) as [Name, readonly Sample[]][]).flatMap(([name, list]) =>
    list.map((sample) => ({ name, ...sample })),
  )
