/** How much of something that lasts may go on at a time, in all and for one organization, so that none takes all. */
export class Slots {
  readonly #max: number
  readonly #max_each: number
  readonly #taken = new Map<string, number>()
  #count = 0

  constructor(max: number, max_each: number) {
    this.#max = max
    this.#max_each = max_each
  }

  get count(): number {
    return this.#count
  }

  /** Null when there is no room; else what gives the room back, once. */
  take(organization_id: string): (() => void) | null {
    const own = this.#taken.get(organization_id) ?? 0
    if (this.#count >= this.#max || own >= this.#max_each) return null
    this.#count++
    this.#taken.set(organization_id, own + 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#count--
      const left = (this.#taken.get(organization_id) ?? 1) - 1
      if (left > 0) this.#taken.set(organization_id, left)
      else this.#taken.delete(organization_id)
    }
  }
}
