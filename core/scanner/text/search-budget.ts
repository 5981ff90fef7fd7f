/** The base budget of a request, however short: twice the maximum seen for natural text. */
const BASE_BYTES = 131_072
/** Plus one byte per this many bytes read; ordinary texts use one per thirty. */
const READ_BYTES_PER_SEARCHED = 8

/** How many matches of a request are judged by what stands around them, on an event loop and in all. One takes up to 0.2 ms. */
const LOOKS_ON_LOOP = 16
const LOOKS = 2_048
/** How many matches a request may have on an event loop, in all: a text of attacks has more. */
const HITS_ON_LOOP = 128
/** How much is searched on an event loop in all: twice what the longest ordinary body needs there. */
const SEARCHED_ON_LOOP_BYTES = 40_960

/**
 * How much of a request may be searched unsuccessfully with patterns that count the words between two words. Such searches are
 * expensive in a text made of trigger words. Once the budget is used up, distances are no longer counted, so such a text has
 * more findings, never fewer.
 */
export class SearchBudget {
  #left: number
  #isUndecided = false
  /** Matches that were judged so far. A source that is scanned again begins with the number it began with before. */
  looks = 0
  #searched = 0
  #hits = 0
  readonly #mayHandOver: boolean

  constructor(base_bytes = BASE_BYTES, mayHandOver = false) {
    this.#left = base_bytes
    this.#mayHandOver = mayHandOver
  }

  /**
   * For a scan on an event loop: a request that takes long, or that custom patterns may match, is left undecided for a worker
   * thread.
   */
  static forLoop(base_bytes: number): SearchBudget {
    return new SearchBudget(base_bytes, true)
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** The scan must be repeated in a scan process; its findings so far are discarded. */
  get isUndecided(): boolean {
    return this.#isUndecided
  }

  /** Adds bytes that are read. */
  refill(bytes: number): void {
    this.#left += bytes / READ_BYTES_PER_SEARCHED
  }

  /** Adds bytes that were searched unsuccessfully. */
  spend(bytes: number): void {
    this.#left -= bytes
    if (this.#left <= 0 && this.#mayHandOver) this.#isUndecided = true
  }

  /** Counts bytes that were searched, with or without success. */
  search(bytes: number): void {
    this.#searched += bytes
    if (this.#searched > SEARCHED_ON_LOOP_BYTES && this.#mayHandOver) this.#isUndecided = true
  }

  /** @returns whether the text around one more match is judged; further matches count as attacks */
  look(): boolean {
    this.looks += 1
    if (this.looks > LOOKS_ON_LOOP && this.#mayHandOver) this.#isUndecided = true
    return this.looks <= LOOKS
  }

  /** @returns after how many matches a source that begins now need not be read further */
  hitsLeft(limit: number): number {
    return this.#mayHandOver ? Math.max(1, Math.min(limit, HITS_ON_LOOP - this.#hits)) : limit
  }

  /** Counts matches of a source. */
  countHits(hits: number): void {
    this.#hits += hits
    if (this.#hits >= HITS_ON_LOOP && this.#mayHandOver) this.#isUndecided = true
  }

  handOver(): void {
    this.#isUndecided = true
  }
}
