/** Number of peaks kept. The highest TAIL_PEAKS describe the tail; the others replace them as they expire. */
const PEAKS_MAX = 16
const TAIL_PEAKS = 8
/** Peaks this far above the others cannot widen the tail, so two hours of an attack have no influence. */
const OUTLIERS_MAX = 2
const MEMORY_HOURS = 28 * 24
/** Weight of the assumed width of the tail, in peaks. */
const PRIOR_PEAKS = 4
/** Peaks are kept in steps of this size, so that a stored state is exact and short. */
const PEAK_STEP = 0.05

interface Tail {
  /** Where the tail begins, how many peaks per hour are in it, and their mean excess over its beginning. */
  readonly start: number
  readonly per_hour: number
  readonly width: number
}

export interface TailPrior {
  /** Mean excess over the beginning of the tail, before peaks were observed. */
  readonly width: number
  /** The lower, the heavier than exponential: a width estimated from n peaks predicts a tail with shape n. */
  readonly shape: number
}

/** [decayed hours, peak in steps, hour, peak in steps, hour, …], highest peak first. */
export type ExtremesState = readonly number[]

/**
 * The highest peaks of a statistic, at most one per hour, and the estimated rarity of a higher one:
 * peaks over a threshold with an exponential tail (extreme value theory), with a cautious width assumed first.
 */
export class Extremes {
  #hours: number
  readonly #peaks: { readonly steps: number; readonly hour: number }[]
  readonly #prior: TailPrior
  #tail: Tail | null = null

  constructor(prior: TailPrior, state: ExtremesState = [0]) {
    this.#prior = prior
    this.#hours = state[0] ?? 0
    this.#peaks = []
    for (let at = 1; at + 1 < state.length; at += 2)
      this.#peaks.push({ steps: state[at] as number, hour: state[at + 1] as number })
  }

  get state(): ExtremesState {
    return [this.#hours, ...this.#peaks.flatMap(({ steps, hour }) => [steps, hour])]
  }

  /** Learns the highest value of one hour. */
  record(value: number, hour: number): void {
    this.#hours = this.#hours * (1 - 1 / MEMORY_HOURS) + 1
    this.#tail = null
    const peaks = this.#peaks
    for (let at = peaks.length - 1; at >= 0; at--)
      if ((peaks[at] as { hour: number }).hour <= hour - MEMORY_HOURS) peaks.splice(at, 1)
    const steps = Math.round(value / PEAK_STEP)
    if (steps <= 0) return
    let place = peaks.length
    while (place > 0 && (peaks[place - 1] as { steps: number }).steps < steps) place--
    peaks.splice(place, 0, { steps, hour })
    if (peaks.length > PEAKS_MAX) peaks.pop()
  }

  /** Mean hours between peaks of at least this height. */
  returnHours(value: number): number {
    this.#tail ??= this.#fitTail()
    const { start, per_hour, width } = this.#tail
    const { shape } = this.#prior
    if (value > start) return (1 + (value - start) / (width * shape)) ** shape / per_hour
    let above = 0
    for (const { steps } of this.#peaks) if (steps * PEAK_STEP >= value) above++
    return (this.#hours + 1) / (above + 0.7)
  }

  #fitTail(): Tail {
    const peaks = this.#peaks.slice(0, TAIL_PEAKS).map(({ steps }) => steps * PEAK_STEP)
    const start = peaks.length === TAIL_PEAKS ? (peaks[TAIL_PEAKS - 1] as number) : 0
    const highest = peaks[Math.min(OUTLIERS_MAX, peaks.length - 1)] ?? 0
    let excess = PRIOR_PEAKS * this.#prior.width
    for (const peak of peaks) excess += Math.min(peak, highest) - start
    return {
      start,
      per_hour: (peaks.length + 0.7) / (this.#hours + 1),
      width: excess / (peaks.length + PRIOR_PEAKS),
    }
  }
}
