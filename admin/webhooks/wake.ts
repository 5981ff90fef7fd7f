/** Lets one loop wait for a time or a wake-up; a wake-up before the wait ends it at once. */
export class Wake {
  #hasRung = false
  #end: (() => void) | null = null

  ring(): void {
    this.#hasRung = true
    this.#end?.()
  }

  async wait(limit_ms: number): Promise<void> {
    if (!this.#hasRung)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limit_ms)
        this.#end = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#end = null
    this.#hasRung = false
  }
}
