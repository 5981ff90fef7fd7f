/** An episode of new items ends when none came for this long; until then it is scored. */
const EPISODE_GAP_MS = 3_600_000
const MEMORY_HOURS = 28 * 24
/** The prior: half an episode in three days. */
const PRIOR_EPISODES = 0.5
const PRIOR_DAYS = 3
const PRIOR_SIZE_WEIGHT = 2
const RETURN_DAYS_MAX = 1e9

export interface NoveltyLimits {
  readonly items_max: number
  /** How many new items are assumed to come together, on average. */
  readonly assumed_size: number
}

export interface NoveltyState {
  readonly items: readonly (readonly [item: string, last_ms: number])[]
  readonly learned: readonly [days: number, episodes: number, size: number]
  readonly episode: readonly [last_ms: number, size: number]
}

/** Known items of a kind, and how unusual new ones are. */
export class Novelty {
  readonly #limits: NoveltyLimits
  readonly #items: Map<string, number>
  /** Learned days, episodes that ended in them, and new items in these; older ones have less weight. */
  #learned: readonly [days: number, episodes: number, size: number]
  #episode_ms: number
  #episode_size: number

  constructor(limits: NoveltyLimits, state?: NoveltyState) {
    this.#limits = limits
    this.#items = new Map(state?.items)
    this.#learned = state?.learned ?? [0, 0, 0]
    ;[this.#episode_ms, this.#episode_size] = state?.episode ?? [0, 0]
  }

  get state(): NoveltyState {
    return {
      items: [...this.#items],
      learned: this.#learned,
      episode: [this.#episode_ms, this.#episode_size],
    }
  }

  get items(): readonly string[] {
    return [...this.#items.keys()]
  }

  has(item: string): boolean {
    return this.#items.has(item)
  }

  /** Records an item; a new one is scored only if `counts`. */
  see(item: string, now_ms: number, counts: boolean): void {
    const known_ms = this.#items.get(item)
    if (known_ms !== undefined) {
      // Once per hour is accurate enough to find the least recently used item.
      if (now_ms - known_ms > EPISODE_GAP_MS) this.#items.set(item, now_ms)
      return
    }
    if (this.#items.size >= this.#limits.items_max) this.#dropOldest()
    this.#items.set(item, now_ms)
    if (!counts) return
    this.#endEpisode(now_ms)
    this.#episode_ms = now_ms
    this.#episode_size++
  }

  forget(item: string): void {
    this.#items.delete(item)
  }

  /** To be called once for each hour in which new items were counted. */
  hourPassed(now_ms: number): void {
    this.#endEpisode(now_ms)
    const keep = 1 - 1 / MEMORY_HOURS
    const [days, episodes, size] = this.#learned
    this.#learned = [days * keep + 1 / 24, episodes * keep, size * keep]
  }

  /** Mean number of days between episodes as large as the current one; zero if there is none. */
  returnDays(now_ms: number): number {
    if (this.#episode_size === 0 || now_ms - this.#episode_ms > EPISODE_GAP_MS) return 0
    const [days, episodes, size] = this.#learned
    const mean_size =
      (size + PRIOR_SIZE_WEIGHT * this.#limits.assumed_size) / (episodes + PRIOR_SIZE_WEIGHT)
    const continues = 1 - 1 / Math.max(mean_size, 1.05)
    const of_any_size = (days + PRIOR_DAYS) / (episodes + PRIOR_EPISODES)
    return Math.min(of_any_size / continues ** (this.#episode_size - 1), RETURN_DAYS_MAX)
  }

  #endEpisode(now_ms: number): void {
    if (this.#episode_size === 0 || now_ms - this.#episode_ms <= EPISODE_GAP_MS) return
    const [days, episodes, size] = this.#learned
    this.#learned = [days, episodes + 1, size + this.#episode_size]
    this.#episode_size = 0
  }

  #dropOldest(): void {
    let oldest = ''
    let oldest_ms = Number.POSITIVE_INFINITY
    for (const [item, last_ms] of this.#items)
      if (last_ms < oldest_ms) [oldest, oldest_ms] = [item, last_ms]
    this.#items.delete(oldest)
  }
}
