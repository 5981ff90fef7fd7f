export type Reach = 'reached' | 'unreachable' | 'session_over'

/** Whether the service is reachable and the session valid, for the banner. */
class Connection {
  #reach: Reach = 'reached'
  readonly #listeners = new Set<(reach: Reach) => void>()

  get reach(): Reach {
    return this.#reach
  }

  listen(listener: (reach: Reach) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  lost(): void {
    if (this.#reach === 'reached') this.#become('unreachable')
  }

  found(): void {
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
