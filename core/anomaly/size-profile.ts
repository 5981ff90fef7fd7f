const BINS_PER_DOUBLING = 2
const BINS = 64 * BINS_PER_DOUBLING
const MEMORY_HOURS = 14 * 24
/** Sizes up to twice this quantile are normal. */
const USUAL_SHARE = 0.99
const MARGIN = 2
/** Smaller sizes are always normal. */
const SMALL_BYTES = 4096
/** How many sizes must be known before one counts as unusual. */
const SIZES_MIN = 100

export interface SizeProfileState {
  /** [bin, weight, bin, weight, …] */
  readonly bins: readonly number[]
  readonly usual_bytes: number | null
}

/** The usual payload sizes in one direction. */
export class SizeProfile {
  readonly #bins = new Float64Array(BINS)
  /** Null until enough sizes are known. */
  #usual_bytes: number | null

  constructor(state?: SizeProfileState) {
    this.#usual_bytes = state?.usual_bytes ?? null
    const bins = state?.bins ?? []
    for (let at = 0; at + 1 < bins.length; at += 2)
      this.#bins[bins[at] as number] = bins[at + 1] as number
  }

  get state(): SizeProfileState {
    const bins: number[] = []
    this.#bins.forEach((weight, bin) => {
      if (weight > 0) bins.push(bin, weight)
    })
    return { bins, usual_bytes: this.#usual_bytes }
  }

  get usual_bytes(): number | null {
    return this.#usual_bytes
  }

  learn(bytes: number): void {
    const bin = Math.min(Math.floor(Math.log2(1 + bytes) * BINS_PER_DOUBLING), BINS - 1)
    this.#bins[bin] = (this.#bins[bin] as number) + 1
  }

  /** Zero for a normal size, else one plus one for each further doubling. */
  oversize(bytes: number): number {
    if (this.#usual_bytes === null || bytes <= this.#usual_bytes) return 0
    return 1 + Math.floor(Math.log2(bytes / this.#usual_bytes))
  }

  hourPassed(): void {
    let total = 0
    for (let bin = 0; bin < BINS; bin++) {
      const weight = (this.#bins[bin] as number) * (1 - 1 / MEMORY_HOURS)
      this.#bins[bin] = weight < 0.001 ? 0 : weight
      total += weight
    }
    if (total < SIZES_MIN) return
    let below = 0
    let bin = 0
    while (bin < BINS - 1 && below + (this.#bins[bin] as number) < total * USUAL_SHARE)
      below += this.#bins[bin++] as number
    this.#usual_bytes = Math.max(MARGIN * 2 ** ((bin + 1) / BINS_PER_DOUBLING), SMALL_BYTES)
  }
}
