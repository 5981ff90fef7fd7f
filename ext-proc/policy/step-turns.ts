/** Of each turn of the event loop; at least one step is made. */
const TURN_MS = 1

interface Job {
  readonly size: number
  /** Makes the next step; true after the last one. */
  readonly step: () => boolean
}

/**
 * Work in steps that many callers ask for at once: a bounded part of each turn of the event loop is spent on it. Organizations take
 * turns, so that none waits for how much another has to do. The jobs of one follow each other, the smallest first, so that few
 * of them are half done, and in memory, at a time.
 */
export class StepTurns {
  /** By organization, in the order of their turns. */
  readonly #waiting = new Map<string, Job[]>()

  /** @throws (rejects) with the error of a step */
  run<T>(organization_id: string, size: number, steps: Generator<undefined, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const step = (): boolean => {
        try {
          const { done, value } = steps.next()
          if (done === true) resolve(value)
          return done === true
        } catch (error) {
          reject(error)
          return true
        }
      }
      if (this.#waiting.size === 0) setImmediate(() => this.#work())
      const own = this.#waiting.get(organization_id) ?? []
      const larger = own.findIndex((other) => other.size > size)
      own.splice(larger < 0 ? own.length : larger, 0, { size, step })
      this.#waiting.set(organization_id, own)
    })
  }

  #work(): void {
    const end_ms = performance.now() + TURN_MS
    for (const [organization_id, jobs] of this.#waiting) {
      this.#waiting.delete(organization_id)
      if (jobs[0]?.step() !== false) jobs.shift()
      // At the end, where this loop meets it again.
      if (jobs.length > 0) this.#waiting.set(organization_id, jobs)
      if (performance.now() > end_ms) break
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#work())
  }
}
