import { setImmediate as turn } from 'node:timers/promises'

const WAITING_MAX = 256

export interface TurnLimits {
  /** Requests that run at a time, of all organizations and of one. */
  readonly at_once: number
  readonly at_once_of_one: number
  /** Requests of one organization that wait; further ones are refused. */
  readonly waiting_of_one: number
}

/**
 * Requests that take many milliseconds run a few at a time, and organizations take turns, so that all other requests wait for at
 * most these few, whoever sends how many.
 */
export class RequestTurns {
  readonly #limits: TurnLimits
  /** Of organizations with waiting requests, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #count = 0
  /** Requests that run, by organization. */
  readonly #running = new Map<string, number>()
  #runningCount = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Resolves when the request may run, with what to call at its end; null if too many wait. */
  take(organization_id: string): Promise<(() => void) | null> {
    if (this.#mayRun(organization_id)) return Promise.resolve(this.#run(organization_id))
    const queue = this.#waiting.get(organization_id) ?? []
    if (queue.length >= this.#limits.waiting_of_one || this.#count >= WAITING_MAX)
      return Promise.resolve(null)
    this.#waiting.set(organization_id, queue)
    this.#count++
    return new Promise((resolve) => queue.push(() => resolve(this.#run(organization_id))))
  }

  #mayRun(organization_id: string): boolean {
    const { at_once, at_once_of_one } = this.#limits
    const own = this.#running.get(organization_id) ?? 0
    return this.#runningCount < at_once && own < at_once_of_one
  }

  #run(organization_id: string): () => void {
    this.#runningCount++
    this.#running.set(organization_id, (this.#running.get(organization_id) ?? 0) + 1)
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      void this.#leave(organization_id)
    }
  }

  /** Requests that have arrived meanwhile are read first. */
  async #leave(organization_id: string): Promise<void> {
    await turn()
    this.#runningCount--
    const left = (this.#running.get(organization_id) ?? 1) - 1
    if (left > 0) this.#running.set(organization_id, left)
    else this.#running.delete(organization_id)
    for (const [next, queue] of this.#waiting) {
      if (!this.#mayRun(next)) continue
      const go = queue.shift()
      this.#count--
      this.#waiting.delete(next)
      if (queue.length > 0) this.#waiting.set(next, queue)
      return go?.()
    }
  }
}
