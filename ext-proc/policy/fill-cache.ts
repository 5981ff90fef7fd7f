/** A fill that is invalidated repeatedly means that the entry changes faster than it can be read. The waits take 1.3 s. */
const REFILLS_MAX = 20
/** After these, a refill waits twice as long as the one before, so that a burst of changes can end. */
const EAGER_REFILLS = 3
const WAIT_MAX_MS = 100

interface Entry<V> {
  /** Undefined while the fill runs. */
  value: V | undefined
  /** Estimated memory of the value. */
  bytes: number
  readonly filled: Promise<V>
}

export interface MemoryBudget<V> {
  readonly bytes_max: number
  readonly bytesOf: (value: V) => number
}

/** Once `isWanted` returns false, the value is discarded, so that the fill can end early with any. */
type Fill<V> = (key: string, isWanted: () => boolean) => Promise<V>

/**
 * A self-filling cache, bounded in entries and, with a budget, in memory; the newest entry always fits. If an entry is invalidated
 * while its fill is in progress, it is filled again, also for callers that already wait for it: no caller receives a value read
 * before an announced change.
 */
export class FillCache<V extends object> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #fill: Fill<V>
  readonly #limit: number
  readonly #budget: MemoryBudget<V>
  #bytes = 0

  constructor(
    limit: number,
    fill: Fill<V>,
    budget: MemoryBudget<V> = { bytes_max: Number.POSITIVE_INFINITY, bytesOf: () => 0 },
  ) {
    this.#limit = limit
    this.#fill = fill
    this.#budget = budget
  }

  /** @throws (rejects) with the error of the fill; the next call retries */
  get(key: string): V | Promise<V> {
    const entry = this.#entries.get(key)
    if (entry?.value === undefined) return entry?.filled ?? this.#start(key, 0)
    // Used entries move to the end, so the first entry is the least recently used one.
    if (this.#isNearlyFull) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry.value
  }

  drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }

  /** Drops all whose keys begin so. */
  dropAll(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.drop(key)
  }

  clear(): void {
    this.#bytes = 0
    this.#entries.clear()
  }

  get size(): number {
    return this.#entries.size
  }

  #start(key: string, refills: number): Promise<V> {
    const isWanted = (): boolean => this.#entries.get(key) === entry
    const filled = this.#fill(key, isWanted).then(
      (value) => {
        if (this.#entries.get(key) === entry) {
          entry.value = value
          this.#weigh(entry, value)
          return value
        }
        if (refills >= REFILLS_MAX)
          throw new Error('a cache entry changes faster than it can be read')
        return this.#again(key, refills + 1)
      },
      (error: unknown) => {
        if (this.#entries.get(key) === entry) this.drop(key)
        throw error
      },
    )
    const entry: Entry<V> = { value: undefined, bytes: 0, filled }
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
      this.drop(oldest)
    }
  }

  get #isNearlyFull(): boolean {
    return this.#entries.size >= this.#limit || this.#bytes > this.#budget.bytes_max / 2
  }

  /** Entries that are being filled stay: callers wait for them, and would only fill them again. */
  #weigh(entry: Entry<V>, value: V): void {
    entry.bytes = this.#budget.bytesOf(value)
    this.#bytes += entry.bytes
    if (this.#bytes <= this.#budget.bytes_max) return
    for (const [key, other] of this.#entries) {
      if (other === entry || other.value === undefined) continue
      this.drop(key)
      if (this.#bytes <= this.#budget.bytes_max) return
    }
  }
}
