import { setImmediate as turn } from 'node:timers/promises'

/** A request counts for at most this long, so that a stream, which never ends, does not count forever. */
const COUNTED_MS = 2_000
/** Background work yields for at most this long, so that it makes progress under any load. */
const GIVES_WAY_MS = 200
/** So much is done between two times of giving way. */
const STEP_MS = 4

/** The requests in progress. Background work that would delay them yields between two of its steps. */
export class RequestLoad {
  /** This process is about to stop: each response closes its connection, so that the next request goes to another process. */
  isEnding = false
  #open = 0
  /** Of those that give way, one at a time waits for this. */
  #go: (() => void) | null = null
  #last: Promise<void> = Promise.resolve()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Returns a function to call when the request has been answered; calling it more than once is harmless. */
  enter(): () => void {
    this.#open++
    let isOpen = true
    const leave = (): void => {
      if (!isOpen) return
      isOpen = false
      clearTimeout(timer)
      if (--this.#open === 0) this.#go?.()
    }
    const timer = setTimeout(leave, COUNTED_MS)
    timer.unref()
    return leave
  }

  /**
   * Resolves when no request is in progress, or after a while. Of several waiting tasks one continues in each turn of the event
   * loop, so that a request which comes meanwhile waits for one step and not for one of each.
   */
  quiet(): Promise<void> {
    const deadline_ms = this.#nowMs() + GIVES_WAY_MS
    this.#last = this.#last.then(async () => {
      await turn()
      for (;;) {
        const left_ms = deadline_ms - this.#nowMs()
        if (this.#open === 0 || left_ms <= 0) return
        await this.#silence(left_ms)
      }
    })
    return this.#last
  }

  /** Works through a list, and gives way after so much of it as makes a step. */
  async each<T>(
    list: readonly T[],
    work: (one: T) => void,
    giveWay: () => Promise<void> = () => this.quiet(),
  ): Promise<void> {
    let began_ms = this.#nowMs()
    for (const one of list) {
      work(one)
      if (this.#nowMs() - began_ms < STEP_MS) continue
      await giveWay()
      began_ms = this.#nowMs()
    }
  }

  #silence(at_most_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer)
        this.#go = null
        resolve()
      }
      const timer = setTimeout(go, at_most_ms)
      this.#go = go
    })
  }
}
