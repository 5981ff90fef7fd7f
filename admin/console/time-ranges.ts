const HOUR_MS = 3_600_000

export interface TimeRange {
  readonly key: string
  readonly title: string
  readonly ms: number
  /** Seconds between two points of a chart. */
  readonly step_s: number
  /** The same for a chart that is small. */
  readonly spark_s: number
}

/** The ranges that can be chosen with one click. */
export const TIME_RANGES: readonly TimeRange[] = [
  { key: '15m', title: '15 min', ms: HOUR_MS / 4, step_s: 60, spark_s: 60 },
  { key: '1h', title: '1 h', ms: HOUR_MS, step_s: 60, spark_s: 300 },
  { key: '24h', title: '24 h', ms: 24 * HOUR_MS, step_s: 900, spark_s: 3600 },
  { key: '7d', title: '7 d', ms: 7 * 24 * HOUR_MS, step_s: 7200, spark_s: 28_800 },
]

const DEFAULT = '24h'

/** The range that a part of the address names. */
export const timeRange = (key: string | undefined): TimeRange =>
  TIME_RANGES.find((range) => range.key === (key ?? DEFAULT)) ?? (TIME_RANGES[2] as TimeRange)
