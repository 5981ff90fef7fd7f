export interface CountRingShape {
  readonly slot_ms: number
  readonly columns: number
  /** Lengths of the windows whose sums are kept, in slots. */
  readonly windows: readonly number[]
  /** Whether windows include the current slot; otherwise they contain complete slots only. */
  readonly with_running: boolean
}

export interface CountRingState {
  readonly slot: number
  /** [slots back, counts…] of each slot that is not empty. */
  readonly slots: readonly (readonly number[])[]
}

/** Counts in slots of time, and their sums over several windows that end now. */
export class CountRing {
  readonly #shape: CountRingShape
  readonly #length: number
  readonly #lag: number
  readonly #counts: Float64Array
  readonly #sums: Float64Array
  #slot: number

  constructor(shape: CountRingShape, at_ms: number, state?: CountRingState) {
    this.#shape = shape
    this.#lag = shape.with_running ? 0 : 1
    this.#length = Math.max(...shape.windows) + this.#lag
    this.#counts = new Float64Array(this.#length * shape.columns)
    this.#sums = new Float64Array(shape.windows.length * shape.columns)
    this.#slot = state?.slot ?? Math.floor(at_ms / shape.slot_ms)
    for (const [back, ...counts] of state?.slots ?? [])
      counts.forEach((count, column) => {
        this.#addTo(this.#slot - (back as number), column, count)
      })
  }

  get state(): CountRingState {
    const { columns } = this.#shape
    const slots: number[][] = []
    for (let back = 0; back < this.#length; back++) {
      const place = this.#placeOf(this.#slot - back)
      const counts = [...this.#counts.subarray(place, place + columns)]
      if (counts.some((count) => count > 0)) slots.push([back, ...counts])
    }
    return { slot: this.#slot, slots }
  }

  /** Counts at a time up to the current slot; older than the ring is ignored. */
  add(at_ms: number, column: number, count: number): void {
    const slot = Math.floor(at_ms / this.#shape.slot_ms)
    if (slot > this.#slot - this.#length) this.#addTo(Math.min(slot, this.#slot), column, count)
  }

  advance(at_ms: number): void {
    const to = Math.floor(at_ms / this.#shape.slot_ms)
    if (to - this.#slot >= 2 * this.#length) {
      this.clear()
      this.#slot = to
    }
    while (this.#slot < to) this.#step()
  }

  sum(window: number, column: number): number {
    return this.#sums[window * this.#shape.columns + column] as number
  }

  clear(): void {
    this.#counts.fill(0)
    this.#sums.fill(0)
  }

  #step(): void {
    const { columns, windows } = this.#shape
    this.#slot++
    for (let window = 0; window < windows.length; window++) {
      const enters = this.#placeOf(this.#slot - this.#lag)
      const leaves = this.#placeOf(this.#slot - this.#lag - (windows[window] as number))
      for (let column = 0; column < columns; column++) {
        const entering = this.#lag === 0 ? 0 : (this.#counts[enters + column] as number)
        const at = window * columns + column
        this.#sums[at] =
          (this.#sums[at] as number) + entering - (this.#counts[leaves + column] as number)
      }
    }
    const place = this.#placeOf(this.#slot)
    this.#counts.fill(0, place, place + columns)
  }

  #addTo(slot: number, column: number, count: number): void {
    const { columns, windows } = this.#shape
    const place = this.#placeOf(slot) + column
    this.#counts[place] = (this.#counts[place] as number) + count
    const newest = this.#slot - this.#lag
    if (slot > newest) return
    for (let window = 0; window < windows.length; window++) {
      if (slot <= newest - (windows[window] as number)) continue
      const at = window * columns + column
      this.#sums[at] = (this.#sums[at] as number) + count
    }
  }

  #placeOf(slot: number): number {
    return (slot % this.#length) * this.#shape.columns
  }
}
