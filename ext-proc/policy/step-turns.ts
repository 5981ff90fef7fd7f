/** Of each turn of the event loop; at least one step is made. */
const TURN_MS = 1
/** Of an organization, before the next one has its own. */
const SLICE_MS = 0.25

/** What all jobs read, and those of one organization. One agent has up to 4 MiB; with more, callers would wait for seconds. */
const WAITING_BYTES = 256 << 20
const ORGANIZATION_WAITING_BYTES = WAITING_BYTES / 8
/** A job itself. */
const BYTES_PER_JOB = 1_024

/** Too much waits already. */
export class TurnsFullError extends Error {
  constructor() {
    super('too many scopes, of this organization or of all, wait to be read. Try again shortly')
  }
}

interface Job {
  readonly bytes: number
  /** Of later jobs that were put before it. */
  overtaken_bytes: number
  /** Makes the next step; true after the last one. */
  readonly step: () => boolean
}

interface Queue {
  bytes: number
  readonly jobs: Job[]
}

/**
 * Work in steps that many callers ask for at once: a bounded part of each turn of the event loop is spent on it. Organizations have
 * slices of it in turn, so that none waits for how much another has to do. The jobs of one follow each other, so that few of
 * them are half done, and in memory, at a time. A smaller one goes first, but not before one that has begun, nor before one
 * that has let so many go first that they were as large as itself.
 */
export class StepTurns {
  /** By organization, in the order of their turns. */
  readonly #waiting = new Map<string, Queue>()
  readonly #nowMs: () => number
  #bytes = 0

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * @param read_bytes what the steps read, which is kept until the last one
   * @throws (rejects) with the error of a step, or TurnsFullError
   */
  run<T>(organization_id: string, read_bytes: number, steps: Generator<undefined, T>): Promise<T> {
    const bytes = BYTES_PER_JOB + read_bytes
    const queue = this.#waiting.get(organization_id) ?? { bytes: 0, jobs: [] }
    if (this.#bytes + bytes > WAITING_BYTES || queue.bytes + bytes > ORGANIZATION_WAITING_BYTES)
      return Promise.reject(new TurnsFullError())
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
      insert(queue.jobs, { bytes, overtaken_bytes: 0, step })
      queue.bytes += bytes
      this.#bytes += bytes
      this.#waiting.set(organization_id, queue)
    })
  }

  #work(): void {
    const end_ms = this.#nowMs() + TURN_MS
    for (const [organization_id, queue] of this.#waiting) {
      this.#waiting.delete(organization_id)
      this.#useSlice(queue)
      // At the end, where this loop meets it again.
      if (queue.jobs.length > 0) this.#waiting.set(organization_id, queue)
      if (this.#nowMs() >= end_ms) break
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#work())
  }

  #useSlice(queue: Queue): void {
    const end_ms = this.#nowMs() + SLICE_MS
    for (let job = queue.jobs[0]; job !== undefined; job = queue.jobs[0]) {
      if (job.step()) {
        queue.jobs.shift()
        queue.bytes -= job.bytes
        this.#bytes -= job.bytes
      }
      if (this.#nowMs() >= end_ms) return
    }
  }
}

/** The first job may have begun. */
function insert(jobs: Job[], job: Job): void {
  let at = jobs.length
  for (; at > 1; at--) {
    const before = jobs[at - 1]
    if (before === undefined || before.bytes <= job.bytes) break
    if (before.overtaken_bytes + job.bytes > before.bytes) break
    before.overtaken_bytes += job.bytes
  }
  jobs.splice(at, 0, job)
}
