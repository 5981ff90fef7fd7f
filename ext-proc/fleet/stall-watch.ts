/** A stall is measured from the last tick, so it may seem this much longer than it was, never shorter. */
const TICK_INTERVAL_MS = 50
/** Longer than a turn of a busy event loop, shorter than any lease. */
const STALL_MS = 150

/**
 * Detects that this process was paused, by a signal or because it got no CPU time. Messages that arrived in the meantime,
 * including kills, are unread, and messages from Envoy might be read before them.
 */
export class StallWatch {
  readonly #nowMs: () => number
  readonly #onStall: (stood_ms: number) => void
  readonly #timer: NodeJS.Timeout
  #ticked_ms: number
  #catchingUp: Promise<void> | null = null

  /** `nowMs` is monotonic; `onStall` is called once per stall with its duration. */
  constructor(nowMs: () => number, onStall: (stood_ms: number) => void) {
    this.#nowMs = nowMs
    this.#onStall = onStall
    this.#ticked_ms = nowMs()
    this.#timer = setInterval(() => {
      void this.caughtUp()
      this.#ticked_ms = nowMs()
    }, TICK_INTERVAL_MS)
  }

  /** Null if there was no stall; otherwise resolves when everything that had arrived has been read. */
  caughtUp(): Promise<void> | null {
    const stood_ms = this.#nowMs() - this.#ticked_ms
    if (this.#catchingUp !== null || stood_ms < STALL_MS) return this.#catchingUp
    this.#onStall(stood_ms)
    // One turn of the event loop reads the data of every connection; a second turn reads data that arrived in several chunks.
    this.#catchingUp = new Promise((resolve) => {
      setImmediate(() =>
        setImmediate(() => {
          this.#catchingUp = null
          this.#ticked_ms = this.#nowMs()
          resolve()
        }),
      )
    })
    return this.#catchingUp
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
