/** Longer than a turn of a busy event loop, shorter than any lease. */
const STALL_MS = 150

/**
 * Detects that this process was paused, by a signal or because it got no CPU time. Messages that arrived in the meantime,
 * including kills, are unread, and messages from Envoy might be read before them.
 */
export class StallWatch {
  readonly #nowMs: () => number
  readonly #onStall: (stood_ms: number) => void
  readonly #tick_ms: number
  #ticked_ms: number
  #catchingUp: Promise<void> | null = null

  /**
   * `nowMs` is monotonic; `onStall` is called once per stall with its duration, measured from the last tick or call: it may seem
   * `tick_ms` longer than it was, never shorter.
   * @param tick_ms `tick` is called at least this often
   */
  constructor(nowMs: () => number, tick_ms: number, onStall: (stood_ms: number) => void) {
    this.#nowMs = nowMs
    this.#onStall = onStall
    this.#tick_ms = tick_ms
    this.#ticked_ms = nowMs()
  }

  /** Comes with what the process does regularly: a timer of its own would wake an idle process once more. */
  tick(): void {
    if (this.#nowMs() - this.#ticked_ms >= this.#tick_ms + STALL_MS) void this.caughtUp()
    this.#ticked_ms = this.#nowMs()
  }

  /** Null if there was no stall; otherwise resolves when everything that had arrived has been read. */
  caughtUp(): Promise<void> | null {
    if (this.#catchingUp !== null) return this.#catchingUp
    const now_ms = this.#nowMs()
    const stood_ms = now_ms - this.#ticked_ms
    if (stood_ms < STALL_MS) {
      this.#ticked_ms = now_ms
      return null
    }
    // A shorter silence may be one without calls; what has arrived is read first.
    if (stood_ms >= this.#tick_ms + STALL_MS) this.#onStall(stood_ms)
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
}
