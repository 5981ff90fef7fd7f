/** So many wrong tokens an address may send in a window before it has to wait for the next. */
export const FAILURES_LIMIT = 20
export const WINDOW_MS = 60_000
/** Addresses that are remembered; beyond it the one that failed longest ago is forgotten. */
export const ADDRESSES_LIMIT = 10_000

interface Failures {
  count: number
  readonly since_ms: number
}

/** Counts failed sign-ins per address in a bounded table. `nowMs` is monotonic. */
export class SignInThrottle {
  readonly #byAddress = new Map<string, Failures>()
  /** As many as there are requests at the moment. */
  readonly #turns = new Map<string, Promise<void>>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** How long the address has to wait, in whole seconds; 0 when it may try. */
  waitOf(address: string): number {
    const failures = this.#current(address)
    if (failures === null || failures.count < FAILURES_LIMIT) return 0
    return Math.max(1, Math.ceil((failures.since_ms + WINDOW_MS - this.#nowMs()) / 1000))
  }

  /** Notes a failure and answers how many there were in the window. */
  fail(address: string): number {
    const failures = this.#current(address) ?? { count: 0, since_ms: this.#nowMs() }
    failures.count++
    this.#byAddress.delete(address)
    this.#byAddress.set(address, failures)
    if (this.#byAddress.size > ADDRESSES_LIMIT) {
      const [oldest] = this.#byAddress.keys()
      if (oldest !== undefined) this.#byAddress.delete(oldest)
    }
    return failures.count
  }

  /** Runs the sign-ins of one address one after the other, so that many at once count as many. */
  async inTurn<T>(address: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(address) ?? Promise.resolve()
    const mine = before.then(work, work)
    const done = mine.then(
      () => undefined,
      () => undefined,
    )
    this.#turns.set(address, done)
    try {
      return await mine
    } finally {
      if (this.#turns.get(address) === done) this.#turns.delete(address)
    }
  }

  get size(): number {
    return this.#byAddress.size
  }

  #current(address: string): Failures | null {
    const failures = this.#byAddress.get(address)
    if (failures === undefined) return null
    if (this.#nowMs() - failures.since_ms < WINDOW_MS) return failures
    this.#byAddress.delete(address)
    return null
  }
}
