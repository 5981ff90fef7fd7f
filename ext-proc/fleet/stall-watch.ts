const TICK_INTERVAL_MS = 25
/** Longer than a busy event loop takes for a turn, shorter than any lease. */
const STALL_MS = 150

/**
 * Notices that this process stood still: it was stopped by a signal, or starved. What arrived meanwhile lies unread,
 * kills among it, and Envoy's messages may be read before them.
 */
export class StallWatch {
  readonly #nowMs: () => number
  readonly #onStall: (stood_ms: number) => void
  readonly #timer: NodeJS.Timeout
  #ticked_ms: number
  #settling: Promise<void> | null = null

  /** `nowMs` is monotonic; `onStall` is told once how long a stall was. */
  constructor(nowMs: () => number, onStall: (stood_ms: number) => void) {
    this.#nowMs = nowMs
    this.#onStall = onStall
    this.#ticked_ms = nowMs()
    this.#timer = setInterval(() => {
      void this.settled()
      this.#ticked_ms = nowMs()
    }, TICK_INTERVAL_MS)
  }

  /** Null when nothing was missed; else resolves when what had arrived by then was read. */
  settled(): Promise<void> | null {
    const stood_ms = this.#nowMs() - this.#ticked_ms
    if (this.#settling !== null || stood_ms < STALL_MS) return this.#settling
    this.#onStall(stood_ms)
    // One turn of the loop reads what every connection holds; a second one, what came in more than one piece.
    this.#settling = new Promise((resolve) => {
      setImmediate(() =>
        setImmediate(() => {
          this.#settling = null
          this.#ticked_ms = this.#nowMs()
          resolve()
        }),
      )
    })
    return this.#settling
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
