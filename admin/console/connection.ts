export type Reach = 'reached' | 'unreachable' | 'session_over'

/** Whether the service is reachable and the session valid, for the banner. */
class Connection {
  #reach: Reach = 'reached'
  #answers = 0
  readonly #listeners = new Set<(reach: Reach) => void>()

  get reach(): Reach {
    return this.#reach
  }

  listen(listener: (reach: Reach) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** How many answers have come. */
  get answers(): number {
    return this.#answers
  }

  /** A request failed that began after so many answers: one that came meanwhile says more. */
  lost(answers: number): void {
    if (this.#reach === 'reached' && answers === this.#answers) this.#become('unreachable')
  }

  found(): void {
    this.#answers++
    if (this.#reach === 'unreachable') this.#become('reached')
  }

  sessionOver(): void {
    this.#become('session_over')
  }

  signedIn(): void {
    this.#become('reached')
  }

  #become(reach: Reach): void {
    if (reach === this.#reach) return
    this.#reach = reach
    for (const listener of this.#listeners) listener(reach)
  }
}

export const connection = new Connection()
