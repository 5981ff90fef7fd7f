const HOUR_MS = 3_600_000
const DAY_HOURS = 24
const WEEK_HOURS = 168
const WEEKS_KEPT = 4
const HOURS_KEPT = WEEKS_KEPT * WEEK_HOURS
const DAYS_COMPARED = 14
/** An hour is stored as one byte, in tenths of a doubling; 0 is an unknown hour. */
const STEPS_PER_DOUBLING = 10
/** Weights of an hour of the same weekday and of all days of its kind together. */
const SAME_WEEKDAY_WEIGHT = 1.5
const ALL_DAYS_WEIGHT = 2
/** How far recent hours may change the expectation, in doublings: growth is followed, a quiet day is not. */
const TREND_HOURS = 72
const TREND_MIN = -0.3
const TREND_MAX = 1.5
/** Hours with fewer doublings than this (ten calls) are too small for a trend. */
const TREND_FLOOR = 3.5
/**
 * While no weekend has been seen, the busiest hour of the working days is expected for it. A working day may be far busier than
 * a weekend: while none has been seen, this many doublings over the busiest hour of the weekend are expected.
 */
const UNKNOWN_WORKDAY_MARGIN = 6
/** An hour is quiet if calls came on at most this share of the days; at least this many days must be known. */
const QUIET_SHARE = 0.08
const QUIET_DAYS_MIN = 3
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4

export interface HourProfileState {
  /** One byte per hour of the last four weeks, in Base64. */
  readonly hours: string
  readonly hour: number
  readonly trend: readonly number[]
}

/** The expected number of calls per hour of the week: medians of past hours, so that no single hour changes it. */
export class HourProfile {
  readonly #hours: Uint8Array
  #hour: number
  /** By how many doublings each of the last learned hours exceeded its expectation. */
  readonly #trend: number[]
  readonly #expected = new Map<number, number | null>()

  constructor(state?: HourProfileState) {
    this.#hours = new Uint8Array(HOURS_KEPT)
    if (state !== undefined) this.#hours.set(Buffer.from(state.hours, 'base64'))
    this.#hour = state?.hour ?? Number.NaN
    this.#trend = [...(state?.trend ?? [])]
  }

  get state(): HourProfileState {
    return {
      hours: Buffer.from(this.#hours).toString('base64'),
      hour: this.#hour,
      trend: this.#trend,
    }
  }

  /** Learns an hour, or with null that it is unknown; hours in between are unknown. */
  record(hour: number, calls: number | null): void {
    const gap = Number.isNaN(this.#hour) ? 0 : Math.min(hour - this.#hour - 1, HOURS_KEPT)
    for (let back = 1; back <= gap; back++) this.#hours[(hour - back) % HOURS_KEPT] = 0
    this.#expected.clear()
    this.#hour = hour
    if (calls === null) {
      this.#hours[hour % HOURS_KEPT] = 0
      return
    }
    const expected = this.#estimate(hour)
    const steps = 1 + Math.round(Math.log2(1 + calls) * STEPS_PER_DOUBLING)
    this.#hours[hour % HOURS_KEPT] = Math.min(steps, 255)
    if (expected === null || Math.max(expected, Math.log2(1 + calls)) < TREND_FLOOR) return
    this.#trend.push(round(Math.log2(1 + calls) - (expected - this.#trendNow())))
    if (this.#trend.length > TREND_HOURS) this.#trend.shift()
  }

  /** Expected calls in the hour, or null before anything was learned. */
  usualCalls(hour: number): number | null {
    const doublings = this.#expectedDoublings(hour)
    return doublings === null ? null : Math.max(2 ** doublings - 1, 0)
  }

  /**
   * The maximum number of calls per hour to be expected at this time: a rhythm may shift by an hour, and little is known about
   * a kind of day that has not been seen yet.
   */
  expectedCalls(at_ms: number): number {
    let highest = 0
    for (let shift_ms = -HOUR_MS; shift_ms <= HOUR_MS; shift_ms += HOUR_MS / 2)
      highest = Math.max(highest, this.#between(at_ms + shift_ms))
    const hour = Math.floor(at_ms / HOUR_MS)
    if (this.#isKindOfDayKnown(hour)) return Math.max(2 ** highest - 1, 0)
    const week = this.#samples(hour, 1, WEEK_HOURS, () => true)
    const margin = isWeekend(hour) ? 0 : UNKNOWN_WORKDAY_MARGIN
    return 2 ** (Math.max(highest, ...week) + margin) - 1
  }

  /** Whether this hour is normally quiet; false while too few days are known. */
  isQuiet(hour: number): boolean {
    const weekend = isWeekend(hour)
    let known = 0
    let active = 0
    for (let day = 1; day <= DAYS_COMPARED; day++) {
      for (let near = -1; near <= 1; near++) {
        const then = hour - day * DAY_HOURS + near
        if (isWeekend(then) !== weekend) continue
        const steps = this.#stepsAt(then)
        if (steps === 0) continue
        known++
        if (steps > 1) active++
      }
    }
    return known >= 3 * QUIET_DAYS_MIN && active <= known * QUIET_SHARE
  }

  /** Doublings at one time, interpolated between the middles of two hours. */
  #between(at_ms: number): number {
    const place = at_ms / HOUR_MS - 0.5
    const hour = Math.floor(place)
    const share = place - hour
    const before = this.#expectedDoublings(hour) ?? 0
    const after = this.#expectedDoublings(hour + 1) ?? 0
    return before * (1 - share) + after * share
  }

  #expectedDoublings(hour: number): number | null {
    const known = this.#expected.get(hour)
    if (known !== undefined) return known
    const expected = this.#estimate(hour)
    this.#expected.set(hour, expected)
    return expected
  }

  #estimate(hour: number): number | null {
    const week = this.#samples(hour, 1, WEEK_HOURS, () => true)
    if (week.length === 0) return null
    const kind = isWeekend(hour)
    const alike = this.#samples(hour, DAY_HOURS, DAYS_COMPARED, (then) => isWeekend(then) === kind)
    const days =
      alike.length > 0 ? alike : this.#samples(hour, DAY_HOURS, DAYS_COMPARED, () => true)
    const weekdays = this.#samples(hour, WEEK_HOURS, WEEKS_KEPT, () => true)
    const of_day = median(days.length > 0 ? days : week)
    return mix(weekdays, SAME_WEEKDAY_WEIGHT, of_day, ALL_DAYS_WEIGHT) + this.#trendNow()
  }

  /** The learned values at `hour − n × step`, in doublings, for n from 1 to `count`. */
  #samples(hour: number, step: number, count: number, fits: (hour: number) => boolean): number[] {
    const samples: number[] = []
    for (let n = 1; n <= count; n++) {
      const then = hour - n * step
      const steps = fits(then) ? this.#stepsAt(then) : 0
      if (steps > 0) samples.push((steps - 1) / STEPS_PER_DOUBLING)
    }
    return samples
  }

  #stepsAt(hour: number): number {
    if (!(hour <= this.#hour) || hour <= this.#hour - HOURS_KEPT || hour < 0) return 0
    return this.#hours[hour % HOURS_KEPT] as number
  }

  #trendNow(): number {
    if (this.#trend.length < TREND_HOURS / 3) return 0
    return Math.min(Math.max(median(this.#trend), TREND_MIN), TREND_MAX)
  }

  /** Whether this hour was learned on another day of the kind: working day or weekend. */
  #isKindOfDayKnown(hour: number): boolean {
    const kind = isWeekend(hour)
    for (let day = 1; day <= DAYS_COMPARED; day++) {
      const then = hour - day * DAY_HOURS
      if (isWeekend(then) === kind && this.#stepsAt(then) > 0) return true
    }
    return false
  }
}

const isWeekend = (hour: number): boolean => {
  const weekday = (Math.floor(hour / DAY_HOURS) + EPOCH_WEEKDAY) % 7
  return weekday === 0 || weekday === 6
}

const round = (value: number): number => Math.round(value * 100) / 100

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2
}

function mix(
  samples: readonly number[],
  weight: number,
  prior: number,
  prior_weight: number,
): number {
  if (samples.length === 0) return prior
  const total = samples.length * weight
  return (median(samples) * total + prior * prior_weight) / (total + prior_weight)
}
