import { setImmediate as turn } from 'node:timers/promises'

/** Requests of one organization that wait; further ones are refused. */
const WAITING_PER_ORGANIZATION_MAX = 16
const WAITING_MAX = 256

/**
 * Requests that compute for many milliseconds run one at a time, and organizations take turns, so that all other requests wait
 * for at most one of them, whoever sends how many.
 */
export class RequestTurns {
  /** Of organizations with waiting requests, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #count = 0
  #isTaken = false

  /** Resolves when the request may run, with what to call at its end; null if too many wait. */
  take(organization_id: string): Promise<(() => void) | null> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return Promise.resolve(this.#leaver())
    }
    const queue = this.#waiting.get(organization_id) ?? []
    if (queue.length >= WAITING_PER_ORGANIZATION_MAX || this.#count >= WAITING_MAX)
      return Promise.resolve(null)
    this.#waiting.set(organization_id, queue)
    this.#count++
    return new Promise((resolve) => queue.push(() => resolve(this.#leaver())))
  }

  #leaver(): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      void this.#next()
    }
  }

  /** Requests that have arrived meanwhile are read first. */
  async #next(): Promise<void> {
    await turn()
    const [first] = this.#waiting
    if (first === undefined) {
      this.#isTaken = false
      return
    }
    const [organization_id, queue] = first
    const go = queue.shift()
    this.#count--
    this.#waiting.delete(organization_id)
    if (queue.length > 0) this.#waiting.set(organization_id, queue)
    go?.()
  }
}
