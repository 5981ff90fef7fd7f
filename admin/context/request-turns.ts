import { setImmediate as turn } from 'node:timers/promises'

const WAITING_MAX = 256

export interface TurnLimits {
  /** Requests that run at a time, of all organizations and of one. */
  readonly at_once: number
  readonly at_once_of_one: number
  /** Requests of one organization that wait; further ones are refused. */
  readonly waiting_of_one: number
  /** The same for one token, so that it cannot fill the queue of its organization. */
  readonly waiting_of_token: number
}

interface Waiting {
  readonly token_id: string
  readonly go: () => void
}

/**
 * Requests that take many milliseconds run a few at a time, and organizations take turns, as tokens do within one, so that all other requests wait for at
 * most these few, whoever sends how many.
 */
export class RequestTurns {
  readonly #limits: TurnLimits
  /** Of organizations with waiting requests, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>()
  #count = 0
  /** Requests that run, by organization. */
  readonly #running = new Map<string, number>()
  /** The token whose request was the last one of its organization to begin. */
  readonly #lastToken = new Map<string, string>()
  #runningCount = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Resolves when the request may run, with what to call at its end; null if too many wait. */
  take(organization_id: string, token_id: string): Promise<(() => void) | null> {
    if (this.#mayRun(organization_id)) return Promise.resolve(this.#run(organization_id, token_id))
    const { waiting_of_one, waiting_of_token } = this.#limits
    const queue = this.#waiting.get(organization_id) ?? []
    const own = queue.filter((one) => one.token_id === token_id)
    if (
      queue.length >= waiting_of_one ||
      own.length >= waiting_of_token ||
      this.#count >= WAITING_MAX
    )
      return Promise.resolve(null)
    this.#waiting.set(organization_id, queue)
    this.#count++
    return new Promise((resolve) =>
      queue.push({ token_id, go: () => resolve(this.#run(organization_id, token_id)) }),
    )
  }

  #mayRun(organization_id: string): boolean {
    const { at_once, at_once_of_one } = this.#limits
    const own = this.#running.get(organization_id) ?? 0
    return this.#runningCount < at_once && own < at_once_of_one
  }

  #run(organization_id: string, token_id: string): () => void {
    this.#runningCount++
    this.#lastToken.set(organization_id, token_id)
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
    if (left <= 0 && !this.#waiting.has(organization_id)) this.#lastToken.delete(organization_id)
    for (const [next, queue] of this.#waiting) {
      if (!this.#mayRun(next)) continue
      const last = this.#lastToken.get(next)
      const other = queue.findIndex(({ token_id }) => token_id !== last)
      const [first] = queue.splice(Math.max(other, 0), 1)
      this.#count--
      this.#waiting.delete(next)
      if (queue.length > 0) this.#waiting.set(next, queue)
      return first?.go()
    }
  }
}
