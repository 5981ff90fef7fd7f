import type { WaitingRefusal } from './waiting-refusals.ts'

/** Longer than a former primary goes on taking writes after a failover that did not wait for it. */
const KEPT_MS = 15_000
/** Half of what is searched for each of them before it is written again (waiting-refusals.ts). */
const KEPT_MAX = 1_000
/** Refusals have 2 kB, or 40 where an agent has many scopes. */
const CHARACTERS_MAX = 16 << 20

interface Kept {
  readonly at_ms: number
  readonly refusal: WaitingRefusal
}

/**
 * The refusals that were written a short time ago. A store that fails over can lose what its former primary had taken, so they are
 * looked for when the connection is new, and those that are missing are written again.
 */
export class RecentRefusals {
  readonly #nowMs: () => number
  /** By id, the oldest first. */
  #kept = new Map<string, Kept>()

  /** Of all lines that are kept. */
  #characters = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  add(organization_id: string, id: string, line: string): void {
    const at_ms = this.#nowMs()
    if (!this.#kept.has(id)) this.#characters += line.length
    this.#kept.delete(id)
    this.#kept.set(id, { at_ms, refusal: { organization_id, id, line, may_be_there: true } })
    const { size } = this.#kept
    if (size >= 2 * KEPT_MAX) this.#keep([...this.#kept.values()].slice(-KEPT_MAX))
    if (this.#characters > CHARACTERS_MAX)
      this.#keep([...this.#kept.values()].slice(Math.ceil(size / 2)))
  }

  /** Those that may be missing, the oldest first. They stay here: the next failover may follow. */
  get all(): readonly WaitingRefusal[] {
    const since_ms = this.#nowMs() - KEPT_MS
    const recent = [...this.#kept.values()].filter(({ at_ms }) => at_ms >= since_ms)
    this.#keep(recent.slice(-KEPT_MAX))
    return [...this.#kept.values()].map(({ refusal }) => refusal)
  }

  #keep(kept: readonly Kept[]): void {
    this.#kept = new Map(kept.map((one) => [one.refusal.id, one]))
    this.#characters = kept.reduce((sum, { refusal }) => sum + refusal.line.length, 0)
  }
}
