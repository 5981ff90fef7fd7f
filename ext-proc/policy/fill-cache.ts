/** A fill that is invalidated repeatedly means that the entry changes faster than it can be read. The waits take 1.3 s. */
const REFILLS_MAX = 20
/** After these, a refill waits twice as long as the one before, so that a burst of changes can end. */
const EAGER_REFILLS = 3
const WAIT_MAX_MS = 100

interface Entry<V> {
  /** Undefined while the fill runs. */
  value: V | undefined
  readonly filled: Promise<V>
}

/**
 * A bounded self-filling cache. If an entry is invalidated while its fill is in progress, it is filled again, also for callers
 * that already wait for it: no caller receives a value read before an announced change.
 */
export class FillCache<V extends object> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #fill: (key: string) => Promise<V>
  readonly #limit: number

  constructor(limit: number, fill: (key: string) => Promise<V>) {
    this.#limit = limit
    this.#fill = fill
  }

  /** @throws (rejects) with the error of the fill; the next call retries */
  get(key: string): V | Promise<V> {
    const entry = this.#entries.get(key)
    if (entry?.value === undefined) return entry?.filled ?? this.#start(key, 0)
    // Used entries move to the end, so the first entry is the least recently used one.
    if (this.#entries.size >= this.#limit) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry.value
  }

  drop(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  get size(): number {
    return this.#entries.size
  }

  #start(key: string, refills: number): Promise<V> {
    const filled = this.#fill(key).then(
      (value) => {
        if (this.#entries.get(key) === entry) {
          entry.value = value
          return value
        }
        if (refills >= REFILLS_MAX)
          throw new Error('a cache entry changes faster than it can be read')
        return this.#again(key, refills + 1)
      },
      (error: unknown) => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key)
        throw error
      },
    )
    const entry: Entry<V> = { value: undefined, filled }
    this.#makeRoom()
    this.#entries.set(key, entry)
    return filled
  }

  async #again(key: string, refills: number): Promise<V> {
    const wait_ms = Math.min(2 ** (refills - EAGER_REFILLS), WAIT_MAX_MS)
    if (refills > EAGER_REFILLS) await new Promise((resolve) => setTimeout(resolve, wait_ms))
    const current = this.#entries.get(key)
    return current === undefined ? this.#start(key, refills) : (current.value ?? current.filled)
  }

  #makeRoom(): void {
    while (this.#entries.size >= this.#limit) {
      const oldest = this.#entries.keys().next().value
      if (oldest === undefined) return
      this.#entries.delete(oldest)
    }
  }
}
