/**
 * How long a share may be used. Calls count from when their share was taken, so this has to stay well below the tenth of a second by which
 * the window is longer than a minute.
 */
const SHARE_MS = 50
/** A share is for the calls of this part of its time, so that it is mostly used up. */
const PART_OF_TIME = 1 / 2
/** A scope with fewer calls in that time gains nothing. */
const LEAST_CALLS = 4
/** The largest share, as a part of the limit. */
const LARGEST_PART = 1 / 1000
/** What may be taken and not used within a minute of the clock, as a part of the limit: a caller may be refused earlier by that much. */
const UNUSED_PART = 1 / 500

interface Share {
  calls: number
  /** What is left of the limit after the last of these calls. */
  left: number
  readonly reset_ms: number
  readonly ends_ms: number
}

/** What the store says of a call that is allowed. */
export interface SharedCall {
  readonly left: number
  readonly reset_ms: number
}

/**
 * Calls that were taken from the limits of busy scopes in advance, so that not every call has to ask the store. The size of a
 * share follows from the calls that the scope had before. The store gives none when a limit is nearly used up, so the last calls
 * before a refusal are counted one by one.
 */
export class RateShares {
  readonly #nowMs: () => number
  readonly #shares = new Map<string, Share>()
  /** Calls by scope in the present and the last period; as many scopes as had calls. */
  #present = new Map<string, number>()
  #last: ReadonlyMap<string, number> = new Map()
  #period = 0
  /** Scopes for which the store was asked and has not answered. */
  readonly #asked = new Set<string>()
  /** Calls that were taken in advance in this minute and are not used, by scope. */
  #unused = new Map<string, number>()
  #minute = 0

  /** @param nowMs a clock that never goes back */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Takes a call from the share of a scope; null if there is none. */
  take(scope: string): SharedCall | null {
    const now = this.#nowMs()
    this.#count(scope, now)
    const share = this.#shares.get(scope)
    if (share === undefined) return null
    if (now >= share.ends_ms || share.calls === 0) {
      this.#shares.delete(scope)
      return null
    }
    share.calls--
    this.#return(scope, 1)
    return { left: share.left + share.calls, reset_ms: share.reset_ms }
  }

  /** How many calls to take in advance. They count as unused until they are used. */
  ask(scope: string, limit: number): number {
    const calls = this.#last.get(scope) ?? 0
    if (calls < LEAST_CALLS || this.#asked.has(scope)) return 0
    const unused = this.#unused.get(scope) ?? 0
    const size = Math.min(
      Math.floor(calls * PART_OF_TIME),
      Math.floor(limit * LARGEST_PART),
      Math.floor(limit * UNUSED_PART) - unused,
    )
    if (size <= 0) return 0
    this.#unused.set(scope, unused + size)
    this.#asked.add(scope)
    return size
  }

  /** The store has not answered. What was asked for stays unused. */
  giveUp(scope: string): void {
    this.#asked.delete(scope)
  }

  /**
   * Keeps what the store gave of the calls that were asked for. What is left of an earlier share stays unused.
   * @param asked_ms when the store was asked
   */
  keep(
    scope: string,
    asked: number,
    given: SharedCall & { readonly calls: number },
    asked_ms: number,
  ): void {
    if (asked === 0) return
    this.#asked.delete(scope)
    this.#return(scope, asked - given.calls)
    if (given.calls > 0) this.#shares.set(scope, { ...given, ends_ms: asked_ms + SHARE_MS })
  }

  get now_ms(): number {
    return this.#nowMs()
  }

  #return(scope: string, calls: number): void {
    const unused = this.#unused.get(scope)
    if (unused !== undefined) this.#unused.set(scope, Math.max(0, unused - calls))
  }

  #count(scope: string, now: number): void {
    const period = Math.floor(now / SHARE_MS)
    if (period !== this.#period) this.#next(period, now)
    this.#present.set(scope, (this.#present.get(scope) ?? 0) + 1)
  }

  #next(period: number, now: number): void {
    this.#last = period === this.#period + 1 ? this.#present : new Map()
    this.#present = new Map()
    this.#period = period
    for (const [scope, { ends_ms }] of this.#shares) if (now >= ends_ms) this.#shares.delete(scope)
    const minute = Math.floor(now / 60_000)
    if (minute === this.#minute) return
    this.#minute = minute
    this.#unused = new Map()
  }
}
