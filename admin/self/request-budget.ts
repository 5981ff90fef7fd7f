const WINDOW_MS = 60_000
/** Requests of an agent in a window, to one process. */
const REQUESTS_MAX = 60
/** Agents that have asked in the last window. */
const AGENTS_MAX = 10_000

/** Limits how often each agent asks. */
export class RequestBudget {
  readonly #windows = new Map<string, { readonly until_ms: number; count: number }>()

  /** @returns 0 if the agent may ask now, else after how many seconds it may */
  take(agent_id: string, now_ms: number): number {
    const known = this.#windows.get(agent_id)
    if (known === undefined || known.until_ms <= now_ms) {
      this.#windows.delete(agent_id)
      this.#makeRoom()
      this.#windows.set(agent_id, { until_ms: now_ms + WINDOW_MS, count: 1 })
      return 0
    }
    known.count++
    return known.count <= REQUESTS_MAX ? 0 : Math.ceil((known.until_ms - now_ms) / 1_000)
  }

  /** The window that began first goes first. */
  #makeRoom(): void {
    if (this.#windows.size < AGENTS_MAX) return
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined) this.#windows.delete(oldest)
  }
}
