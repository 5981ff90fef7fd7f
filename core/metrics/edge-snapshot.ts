import type { MetricName } from './metric-catalogue.ts'

/** What one ext-proc process has counted since it started; it is written to the store, and admin shows it. */
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
    /** One for each bound of the catalogue and one for what is above; not cumulated. */
    readonly counts: readonly number[]
    readonly sum: number
  }[]
}

export const SNAPSHOT_INTERVAL_MS = 5_000
/** A process that has not said anything for so long is not shown. */
export const SNAPSHOT_MAX_AGE_MS = 30_000
