import type { MetricName } from './metric-catalogue.ts'

/** The counters of one ext-proc process since its start. The process writes them to the store, and admin exposes them. */
export interface EdgeSnapshot {
  readonly at_ms: number
  readonly values: readonly {
    readonly name: MetricName
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }[]
  readonly histograms: readonly {
    readonly name: MetricName
    readonly labels: Readonly<Record<string, string>>
    /** One count per bucket of the catalogue, plus one for larger values; not cumulative. */
    readonly counts: readonly number[]
    readonly sum: number
  }[]
}

export const SNAPSHOT_INTERVAL_S = 5
/** A process whose snapshot is older than this is not shown. */
export const SNAPSHOT_MAX_AGE_MS = 30_000
