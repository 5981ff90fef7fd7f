/** After this long, half of what an owner has used is forgotten. */
const HALF_LIFE_MS = 10_000
/** An owner that has used as much, which is more than one scan process computes in that time, waits for all others. */
const DEBT_MAX_MS = 10_000
/** Differences below this are left to turns. */
const STEP_MS = 250
/** As many owners as may wait or have a job; when there are more, all are forgotten. */
const OWNERS_MAX = 1_000

/** CPU time that organizations have used in scan processes lately. */
export class CpuDebt {
  readonly #used = new Map<string, { readonly ms: number; readonly at_ms: number }>()

  add(owner: string, used_ms: number, now_ms: number): void {
    const ms = this.#of(owner, now_ms) + used_ms
    if (this.#used.size >= OWNERS_MAX) this.#used.clear()
    this.#used.set(owner, { ms, at_ms: now_ms })
  }

  /** The owner with less of it comes first. */
  rank(owner: string, now_ms: number): number {
    return Math.floor(this.#of(owner, now_ms) / STEP_MS)
  }

  isSpent(owner: string, now_ms: number): boolean {
    return this.#of(owner, now_ms) > DEBT_MAX_MS
  }

  #of(owner: string, now_ms: number): number {
    const used = this.#used.get(owner)
    return used === undefined ? 0 : used.ms * 2 ** ((used.at_ms - now_ms) / HALF_LIFE_MS)
  }
}
