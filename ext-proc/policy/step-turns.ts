/** Of each turn of the event loop; at least one step is made. */
const TURN_MS = 1

/** Makes the next step; true after the last one. */
type Job = () => boolean

/**
 * Work in steps that many callers ask for at once: a bounded part of each turn of the event loop is spent on it. Organizations take
 * turns, as the jobs of one do, so that no other organization waits for how much one has to do.
 */
export class StepTurns {
  /** By organization, in the order of their turns. */
  readonly #waiting = new Map<string, Job[]>()

  /** @throws (rejects) with the error of a step */
  run<T>(organization_id: string, steps: Generator<undefined, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const job = (): boolean => {
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
      const own = this.#waiting.get(organization_id)
      if (own === undefined) this.#waiting.set(organization_id, [job])
      else own.push(job)
    })
  }

  #work(): void {
    const end_ms = performance.now() + TURN_MS
    for (const [organization_id, jobs] of this.#waiting) {
      this.#waiting.delete(organization_id)
      const job = jobs.shift()
      if (job?.() === false) jobs.push(job)
      // At the end, where this loop meets it again.
      if (jobs.length > 0) this.#waiting.set(organization_id, jobs)
      if (performance.now() > end_ms) break
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#work())
  }
}
