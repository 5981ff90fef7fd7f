const WINDOW_MS = 60_000
/** Requests of an agent in a window, to one process. */
const REQUESTS_MAX = 60
/** Agents that have asked in the last window. */
const AGENTS_MAX = 10_000

/** Limits how often each agent asks. */
export class RequestBudget {
  readonly #windows = new Map<string, { readonly until_ms: number; count: number }>()

  /**
   * @param agent its organization and id: two organizations may have the same id
   * @returns 0 if the agent may ask so many questions now, else after how many seconds it may
   */
  take(agent: string, now_ms: number, count = 1): number {
    let known = this.#windows.get(agent)
    if (known === undefined || known.until_ms <= now_ms) {
      this.#windows.delete(agent)
      this.#makeRoom()
      known = { until_ms: now_ms + WINDOW_MS, count: 0 }
      this.#windows.set(agent, known)
    }
    known.count += count
    return known.count <= REQUESTS_MAX ? 0 : Math.ceil((known.until_ms - now_ms) / 1_000)
  }

  /** The window that began first goes first. */
  #makeRoom(): void {
    if (this.#windows.size < AGENTS_MAX) return
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined) this.#windows.delete(oldest)
  }
}
