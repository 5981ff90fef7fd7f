import { CountRing, type CountRingState } from './count-ring.ts'
import { excess } from './excess.ts'
import { Extremes, type ExtremesState } from './extremes.ts'

/** Rates are judged at multiples of this. */
export const TICK_MS = 5000
export const COLUMN = { calls: 0, failed: 1, denied: 2, oversize: 3, expected: 4 } as const
const COLUMNS = 5

/** The slots of the long spans. */
export const COARSE_MS = 300_000
/** 10 s and 1 min: bursts. */
const FINE = { slot_ms: TICK_MS, columns: COLUMNS, windows: [2, 12], with_running: false }
/** 10 min, 1 h and 6 h, and the current slot: slow misuse. */
const COARSE = { slot_ms: COARSE_MS, columns: COLUMNS, windows: [3, 13, 73], with_running: true }
/** Anything older is in no window: the longest window and the current slot. */
export const FINE_REACH_MS = (Math.max(...FINE.windows) + 1) * FINE.slot_ms
export const COARSE_REACH_MS = (Math.max(...COARSE.windows) + 1) * COARSE.slot_ms
const SPANS = FINE.windows.length + COARSE.windows.length
const SPAN_MINUTES = [1 / 6, 1, 15, 65, 365]

/**
 * The signals that compare a count with an expectation. The assumed tail is wider if there are many harmless causes, as for
 * failures, which the upstream may cause. Harmless rates have the heaviest tails.
 */
export const RATE_SIGNS = [
  { type: 'frequency', column: COLUMN.calls, tail: { width: 0.25, shape: 12 } },
  { type: 'error_rate', column: COLUMN.failed, tail: { width: 0.9, shape: 20 } },
  { type: 'denied_rate', column: COLUMN.denied, tail: { width: 0.55, shape: 60 } },
  { type: 'payload_size', column: COLUMN.oversize, tail: { width: 0.7, shape: 60 } },
] as const

/**
 * A harmless agent becomes busier over minutes, so the highest counts in ten seconds are assumed to be closer together than
 * those of longer spans. A tenfold burst of a slow agent is then detected in time.
 */
const BURST_TAIL = { width: 0.15, shape: 20 } as const

/** Fewer calls per minute than this are never an anomaly. */
const HARMLESS_RPM = 0.5
export interface RateSignsState {
  readonly fine: CountRingState
  readonly coarse: CountRingState
  /** The highest excess of the hour, and the learned distribution of such peaks, for each signal and span. */
  readonly peaks: readonly number[]
  readonly tails: readonly ExtremesState[]
}

/** The normal shares of calls that fail, are denied, or have an unusual size, by column. */
export type UsualShares = readonly number[]

/** How unusual the rates of a scope are, over several time spans, compared with the peaks of past hours. */
export class RateSigns {
  readonly #fine: CountRing
  readonly #coarse: CountRing
  readonly #peaks: Float64Array
  readonly #tails: readonly Extremes[]

  constructor(at_ms: number, state?: RateSignsState) {
    this.#fine = new CountRing(FINE, at_ms, state?.fine)
    this.#coarse = new CountRing(COARSE, at_ms, state?.coarse)
    this.#peaks = new Float64Array(RATE_SIGNS.length * SPANS)
    this.#peaks.set(state?.peaks ?? [])
    this.#tails = RATE_SIGNS.flatMap(({ tail }, sign) =>
      SPAN_MINUTES.map((_, span) => {
        const prior = sign === 0 && span === 0 ? BURST_TAIL : tail
        return new Extremes(prior, state?.tails[sign * SPANS + span])
      }),
    )
  }

  get state(): RateSignsState {
    return {
      fine: this.#fine.state,
      coarse: this.#coarse.state,
      peaks: [...this.#peaks],
      tails: this.#tails.map((tail) => tail.state),
    }
  }

  get current_rpm(): number {
    return this.#fine.sum(1, COLUMN.calls)
  }

  add(at_ms: number, column: number, count: number): void {
    this.#fine.add(at_ms, column, count)
    this.#coarse.add(at_ms, column, count)
  }

  advance(at_ms: number): void {
    this.#fine.advance(at_ms)
    this.#coarse.advance(at_ms)
  }

  /** Clears the windows and keeps the baseline. */
  clearWindows(): void {
    this.#fine.clear()
    this.#coarse.clear()
  }

  /** Mean number of days between such rates, by signal, in the order of RATE_SIGNS. */
  returnDays(usual_shares: UsualShares, into: Float64Array): void {
    for (let sign = 0; sign < RATE_SIGNS.length; sign++) {
      const { column } = RATE_SIGNS[sign] as (typeof RATE_SIGNS)[number]
      let hours = 0
      let at_most = Number.POSITIVE_INFINITY
      for (let span = 0; span < SPANS; span++) {
        // A long span counts only as far as the shorter one continues at its pace, so that it does not outlast its cause.
        const count = Math.min(this.#sum(span, column), at_most)
        if (span >= FINE.windows.length)
          at_most = (count * (SPAN_MINUTES[span + 1] ?? 0)) / (SPAN_MINUTES[span] as number)
        const expected = this.#expected(span, column, usual_shares)
        const over = excess(count, expected)
        if (over === 0) continue
        const at = sign * SPANS + span
        this.#peaks[at] = Math.max(this.#peaks[at] as number, over)
        hours = Math.max(hours, (this.#tails[at] as Extremes).returnHours(over))
      }
      into[sign] = hours / 24
    }
  }

  /** Learns the peaks of the hour, or drops them. */
  hourPassed(hour: number, learns: boolean): void {
    if (learns) this.#tails.forEach((tail, at) => tail.record(this.#peaks[at] as number, hour))
    this.#peaks.fill(0)
  }

  #sum(span: number, column: number): number {
    return span < FINE.windows.length
      ? this.#fine.sum(span, column)
      : this.#coarse.sum(span - FINE.windows.length, column)
  }

  #expected(span: number, column: number, usual_shares: UsualShares): number {
    if (column === COLUMN.calls)
      return Math.max(
        this.#sum(span, COLUMN.expected),
        HARMLESS_RPM * (SPAN_MINUTES[span] as number),
      )
    return this.#sum(span, COLUMN.calls) * (usual_shares[column] ?? 0)
  }
}
