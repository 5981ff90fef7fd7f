/** Members by score, then by their bytes, as the store orders them. */
export class SortedSet {
  readonly #scores: Map<string, number>
  #sorted: string[] | null = null

  constructor(scores: Iterable<readonly [string, number]> = []) {
    this.#scores = new Map(scores)
  }

  get size(): number {
    return this.#scores.size
  }

  /** Returns whether it is new. */
  add(member: string, score: number): boolean {
    const isNew = !this.#scores.has(member)
    this.#scores.set(member, score)
    this.#sorted = null
    return isNew
  }

  remove(member: string): boolean {
    if (!this.#scores.delete(member)) return false
    this.#sorted = null
    return true
  }

  score(member: string): number | undefined {
    return this.#scores.get(member)
  }

  get sorted(): readonly string[] {
    this.#sorted ??= [...this.#scores]
      .sort(([a, s], [b, t]) => s - t || (a < b ? -1 : 1))
      .map(([member]) => member)
    return this.#sorted
  }

  entries(): Iterable<readonly [string, number]> {
    return this.#scores
  }
}
