const BEAT_MS = 1_000

interface Job {
  readonly seconds: number
  left: number
  readonly work: () => void
}

/** What one process does on its beat. */
export class Beat {
  readonly #jobs = new Set<Job>()
  #timer: NodeJS.Timeout | undefined

  add(seconds: number, work: () => void): () => void {
    const job = { seconds, left: seconds, work }
    this.#jobs.add(job)
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref()
    return () => {
      this.#jobs.delete(job)
      if (this.#jobs.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #beat(): void {
    for (const job of this.#jobs) {
      if (--job.left > 0) continue
      job.left = job.seconds
      job.work()
    }
  }
}

const own = new Beat()
let beatOfProcess = (): Beat => own

/** A simulation has several processes in one. */
export const replaceBeat = (find: () => Beat): void => {
  beatOfProcess = find
}

/**
 * Does the work every so many seconds, together with all that this process does so often: an idle process wakes once a second, and
 * what it asks of the store then is sent at once. Does not keep the process alive.
 * @returns the function that ends it
 */
export const onBeat = (seconds: number, work: () => void): (() => void) =>
  beatOfProcess().add(seconds, work)
