/** A primary that a network split has isolated can take changes until an operator notices. */
const KEPT_MS = 10 * 60_000
/** Of each, a few short texts are kept. */
const KEPT_MAX = 1_000

/** A change that was written to the store, and that may have been answered. */
export interface RecentChange {
  readonly organization_id: string
  /** Id of its entry in the stream of the activity log, which is written with it. */
  readonly logged_as: string
  readonly activity_id: string
  readonly action: string
  readonly target: string
  readonly changed_at: string
}

/** The changes that this process has made a short time ago, with which a store that fails over is compared. */
export class RecentChanges {
  readonly #nowMs: () => number
  #kept: { readonly at_ms: number; readonly change: RecentChange }[] = []

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  add(change: RecentChange): void {
    this.#kept.push({ at_ms: this.#nowMs(), change })
    if (this.#kept.length >= 2 * KEPT_MAX) this.#kept = this.#kept.slice(-KEPT_MAX)
  }

  /** The oldest first. They stay here: the next failover may follow. */
  get all(): readonly RecentChange[] {
    const since_ms = this.#nowMs() - KEPT_MS
    this.#kept = this.#kept.filter(({ at_ms }) => at_ms >= since_ms).slice(-KEPT_MAX)
    return this.#kept.map(({ change }) => change)
  }

  /** Once their loss is reported. */
  remove(lost: readonly RecentChange[]): void {
    const gone = new Set(lost)
    this.#kept = this.#kept.filter(({ change }) => !gone.has(change))
  }
}
