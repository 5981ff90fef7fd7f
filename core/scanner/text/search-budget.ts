/** The base budget of a request, however short: twice the maximum seen for natural text. */
const BASE_BYTES = 131_072
/** And one byte more for so many that were read; ordinary texts take one for thirty. */
const READ_BYTES_PER_SEARCHED = 8

/**
 * How much of a request is searched in vain with patterns that count what lies between two words. That is dear in a text
 * made of trigger words; once the budget is spent, distances are no longer counted, so such a text has more findings,
 * never fewer.
 */
export class SearchBudget {
  #left: number
  #isUndecided = false
  readonly #mayHandOver: boolean

  constructor(base_bytes = BASE_BYTES, mayHandOver = false) {
    this.#left = base_bytes
    this.#mayHandOver = mayHandOver
  }

  /**
   * For a scan on an event loop: a request that takes long, or that custom patterns may match, is left undecided, and
   * is for a worker thread.
   */
  static forLoop(base_bytes: number): SearchBudget {
    return new SearchBudget(base_bytes, true)
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** The scan must be repeated in a thread; its findings so far are discarded. */
  get isUndecided(): boolean {
    return this.#isUndecided
  }

  /** So many bytes are read now. */
  refill(bytes: number): void {
    this.#left += bytes / READ_BYTES_PER_SEARCHED
  }

  /** So many bytes were searched in vain. */
  spend(bytes: number): void {
    this.#left -= bytes
    if (this.#left <= 0 && this.#mayHandOver) this.#isUndecided = true
  }

  handOver(): void {
    this.#isUndecided = true
  }
}
