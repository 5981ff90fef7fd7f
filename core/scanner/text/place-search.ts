import type { CompiledPatterns } from '../patterns/compile-patterns.ts'
import type { WindowWords } from '../sieve/window-words.ts'
import { SearchBudget } from './search-budget.ts'

/** How far before and after its gate words an expression may look. */
const LOOK_BEHIND_BYTES = 96
const LOOK_AHEAD_BYTES = 240
/** The longest section that one search covers; beyond it, the positions of one pattern are searched separately. */
const STRETCH_BYTES = 1_024
/** Maximum number of waiting positions; when it is reached, they are searched immediately. */
const PENDING_PLACES = 512
/**
 * Maximum number of hits of one pattern in one piece; the first may be only a quotation. Of a pattern that everyday wording matches
 * too, all hits are returned: otherwise everyday sentences could hide an attack that follows them.
 */
export const HITS_PER_PIECE = 8

/** A pattern found in the source, as byte offsets; of the learned model with its score. */
export type Hit = {
  readonly pattern: number
  readonly start: number
  readonly end: number
  readonly score?: number
}

/** The positions of a window at which gates were passed. They are searched once the text that follows has been read. */
export class PlaceSearch {
  readonly hits: Hit[] = []
  /** One byte per pattern: 0 skips it. */
  active: Uint8Array
  budget = new SearchBudget()

  readonly #matcherOf: CompiledPatterns['matcherOf']
  readonly #relaxedOf: CompiledPatterns['relaxedOf']
  readonly #soughtOf: CompiledPatterns['soughtOf']
  readonly #neededOf: CompiledPatterns['neededOf']
  readonly #words: WindowWords
  readonly #text: Buffer
  readonly #offsets: Int32Array
  readonly #longest: Float64Array
  readonly #staysInPiece: Uint8Array
  /** Pattern, start and end of each waiting position. */
  readonly #pending = new Int32Array(PENDING_PLACES * 3)
  #count = 0
  /** The stretches of those that are searched, and their order. */
  readonly #from = new Int32Array(PENDING_PLACES)
  readonly #to = new Int32Array(PENDING_PLACES)
  readonly #order = new Int32Array(PENDING_PLACES)
  readonly #pendingOf: Int32Array
  /** Hits of each pattern in the current piece. */
  readonly #found: Uint32Array
  readonly #most: Float64Array
  #hitsBefore = 0
  #pieceStart = 0

  constructor(
    { patterns, matcherOf, relaxedOf, soughtOf, neededOf }: CompiledPatterns,
    text: Buffer,
    offsets: Int32Array,
    words: WindowWords,
  ) {
    this.#matcherOf = matcherOf
    this.#relaxedOf = relaxedOf
    this.#soughtOf = soughtOf
    this.#neededOf = neededOf
    this.#words = words
    this.#text = text
    this.#offsets = offsets
    this.active = new Uint8Array(patterns.length).fill(1)
    this.#longest = Float64Array.from(
      patterns,
      (pattern) => pattern.longest_text ?? Number.POSITIVE_INFINITY,
    )
    this.#staysInPiece = Uint8Array.from(patterns, (pattern) =>
      pattern.within_one_text === true || pattern.longest_text !== undefined ? 1 : 0,
    )
    this.#pendingOf = new Int32Array(patterns.length).fill(-1)
    this.#found = new Uint32Array(patterns.length)
    this.#most = Float64Array.from(patterns, ({ model_sign }) =>
      model_sign === undefined ? HITS_PER_PIECE : Number.POSITIVE_INFINITY,
    )
  }

  reset(): void {
    this.hits.length = 0
    this.#hitsBefore = 0
    this.#count = 0
    this.#pieceStart = 0
    this.#pendingOf.fill(-1)
    this.#found.fill(0)
  }

  beginPiece(start: number): void {
    this.#pieceStart = start
    if (this.hits.length === this.#hitsBefore) return
    this.#found.fill(0)
    this.#hitsBefore = this.hits.length
  }

  /** Records that a pattern may match between `from` and `now`, the end of the text read so far. */
  note(pattern: number, from: number, now: number): void {
    if (this.active[pattern] === 0 || this.#isOver(pattern)) return
    if (from < this.#pieceStart && this.#staysInPiece[pattern] === 1) return
    const pending = this.#pending
    const held = this.#pendingOf[pattern] as number
    if (held >= 0) {
      const isNear = from - (pending[held + 2] as number) <= LOOK_AHEAD_BYTES
      if (isNear && now - (pending[held + 1] as number) < STRETCH_BYTES) {
        pending[held + 2] = now
        return
      }
    }
    if (this.#count === PENDING_PLACES) this.search(now, false)
    if (this.#count === PENDING_PLACES) this.search(now, true)
    const place = this.#count * 3
    pending[place] = pattern
    pending[place + 1] = from
    pending[place + 2] = now
    this.#count += 1
    this.#pendingOf[pattern] = place
  }

  /** Searches the recorded positions; without `isAll`, positions too close to `end` are kept for later. */
  search(end: number, isAll: boolean): void {
    if (this.#count === 0) return
    const pending = this.#pending
    let kept = 0
    let ready = 0
    for (let place = 0; place < this.#count * 3; place += 3) {
      const pattern = pending[place] as number
      const start = pending[place + 1] as number
      const stop = pending[place + 2] as number
      this.#pendingOf[pattern] = -1
      if (!isAll && stop + LOOK_AHEAD_BYTES > end) {
        pending.copyWithin(kept, place, place + 3)
        this.#pendingOf[pattern] = kept
        kept += 3
        continue
      }
      const floor = start < this.#pieceStart ? 0 : this.#pieceStart
      if (end - floor > (this.#longest[pattern] as number)) continue
      this.#from[ready] = Math.max(floor, start - LOOK_BEHIND_BYTES)
      this.#to[ready] = Math.min(end, stop + LOOK_AHEAD_BYTES)
      this.#order[ready] = pattern * PENDING_PLACES + ready
      ready += 1
    }
    this.#count = kept / 3
    // One pattern after the other, as its automaton is in the cache of the processor then: this halves the time.
    for (const key of this.#order.subarray(0, ready).sort()) {
      const one = key % PENDING_PLACES
      const pattern = (key - one) / PENDING_PLACES
      this.#searchStretch(pattern, this.#from[one] as number, this.#to[one] as number, end)
    }
  }

  #isOver(pattern: number): boolean {
    return (this.#found[pattern] as number) >= (this.#most[pattern] as number)
  }

  #mayMatch(pattern: number, from: number, to: number, end: number): boolean {
    const needed = this.#neededOf(pattern)
    const words = this.#words
    words.readStretch(from, to, end)
    for (let index = 0; index < needed.length; index += 1) {
      const one = needed[index] as number
      if (one >= 0 && !words.mayMatch(one)) continue
      this.budget.search(to - from)
      if (this.#soughtOf(pattern)[index]?.test(this.#text.subarray(from, to)) === true) return true
    }
    return false
  }

  /** Searches a section of the window, and continues after each match. */
  #searchStretch(pattern: number, from: number, to: number, end: number): void {
    // Findings of an undecided scan do not count.
    if (this.budget.isUndecided || this.#isOver(pattern)) return
    if (!this.#mayMatch(pattern, from, to, end)) return
    const offsets = this.#offsets
    let start = from
    while (start < to && !this.#isOver(pattern)) {
      const matcher = this.budget.isSpent ? this.#relaxedOf(pattern) : this.#matcherOf(pattern)
      const match = matcher.exec(this.#text.subarray(start, to))
      if (match === null) {
        if (start === from) this.budget.spend(to - from)
        return
      }
      const first = start + match.index
      const last = first + Math.max(1, match[0].length) - 1
      this.#found[pattern] = (this.#found[pattern] as number) + 1
      this.hits.push({
        pattern,
        start: offsets[first] as number,
        end: (offsets[last] as number) + 1,
      })
      start = last + 1
    }
  }

  /** To be called when the window has moved by this many bytes. */
  shift(bytes: number): void {
    this.#pieceStart = Math.max(0, this.#pieceStart - bytes)
    for (let place = 0; place < this.#count * 3; place += 3) {
      this.#pending[place + 1] = Math.max(0, (this.#pending[place + 1] as number) - bytes)
      this.#pending[place + 2] = Math.max(0, (this.#pending[place + 2] as number) - bytes)
    }
  }
}
