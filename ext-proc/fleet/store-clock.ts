/** How far two clocks may drift apart in a second. */
const DRIFT = 0.001

/** When the store told its time: by the clock of this process, between `sent_ms` and `heard_ms`. */
interface TimeOfStore {
  readonly store_ms: number
  readonly sent_ms: number
  readonly heard_ms: number
}

/**
 * The clock of the store, which all edges share: a grant ends on all of them at the same moment, whatever the clocks of their hosts
 * say. Each heartbeat brings a sample; the one with the least error counts until its error has grown larger than that of a new one.
 */
export class StoreClock {
  readonly #steadyMs: () => number
  #ahead_ms: number
  #error_ms = Number.POSITIVE_INFINITY
  #taken_ms = 0

  /** @param steadyMs never goes back. `wallMs` counts until the store has told its time. */
  constructor(steadyMs: () => number, wallMs: () => number) {
    this.#steadyMs = steadyMs
    this.#ahead_ms = wallMs() - steadyMs()
  }

  /** Unix time. */
  readonly nowMs = (): number => Math.floor(this.#steadyMs() + this.#ahead_ms)

  /** @param told in the time of `steadyMs` */
  learn({ store_ms, sent_ms, heard_ms }: TimeOfStore): void {
    const error_ms = (heard_ms - sent_ms) / 2
    const ahead_ms = store_ms - (sent_ms + heard_ms) / 2
    const grown_ms = this.#error_ms + (heard_ms - this.#taken_ms) * DRIFT
    const hasStepped = Math.abs(ahead_ms - this.#ahead_ms) > grown_ms + error_ms
    if (error_ms > grown_ms && !hasStepped) return
    this.#ahead_ms = ahead_ms
    this.#error_ms = error_ms
    this.#taken_ms = heard_ms
  }
}
