/** Longest time for which an unwatched call is assumed to be running. Longer ones are rare, and the alert says what is wrong. */
const RUNS_MS = 3_600_000
/** Agents with unwatched calls; beyond it, every kill reports one unconfirmed call until the entries expire. */
const AGENTS_MAX = 10_000

interface Entry {
  count: number
  until_ms: number
  /** What has let the calls go unwatched. */
  readonly source: object
}

/**
 * Allowed calls whose stream Envoy closed although their responses may still be running. A kill cannot cut them, so its
 * receipt must not call itself complete.
 */
export class UnwatchedCalls {
  readonly #byAgent = new Map<string, Entry>()
  readonly #nowMs: () => number
  #overflow_until_ms = Number.NEGATIVE_INFINITY
  #total = 0

  /** `nowMs` is monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** How many there were since the start of this process. */
  get total(): number {
    return this.#total
  }

  add(organization_id: string, agent_id: string, source: object): void {
    this.#total++
    const until_ms = this.#nowMs() + RUNS_MS
    const key = keyOf(organization_id, agent_id)
    const known = this.#byAgent.get(key)
    if (known !== undefined && known.source === source && known.until_ms > this.#nowMs()) {
      known.count++
      known.until_ms = until_ms
      return
    }
    if (known === undefined && this.#byAgent.size >= AGENTS_MAX) {
      this.#expire()
      if (this.#byAgent.size >= AGENTS_MAX) {
        this.#overflow_until_ms = until_ms
        return
      }
    }
    const before = known !== undefined && known.until_ms > this.#nowMs() ? known.count : 0
    this.#byAgent.set(key, { count: before + 1, until_ms, source })
  }

  /** Those of an agent that may still be running. */
  count(organization_id: string, agent_id: string): number {
    const entry = this.#byAgent.get(keyOf(organization_id, agent_id))
    if (entry !== undefined && entry.until_ms > this.#nowMs()) return entry.count
    return this.#overflow_until_ms > this.#nowMs() ? 1 : 0
  }

  /** Those of an organization, or of all, that may still be running. */
  countIn(organization_id: string | null): number {
    const now_ms = this.#nowMs()
    let sum = this.#overflow_until_ms > now_ms ? 1 : 0
    for (const [key, { count, until_ms }] of this.#byAgent)
      if (until_ms > now_ms && (organization_id === null || key.startsWith(`${organization_id} `)))
        sum += count
    return sum
  }

  /** It has turned out that the calls of a source had ended. */
  forget(source: object): void {
    for (const [key, entry] of this.#byAgent) if (entry.source === source) this.#byAgent.delete(key)
  }

  #expire(): void {
    const now_ms = this.#nowMs()
    for (const [key, { until_ms }] of this.#byAgent)
      if (until_ms <= now_ms) this.#byAgent.delete(key)
  }
}

const keyOf = (organization_id: string, agent_id: string): string =>
  `${organization_id} ${agent_id}`
