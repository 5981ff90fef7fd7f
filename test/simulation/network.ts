import type { SimProcess } from './sim-process.ts'

/** The way between a process and the store. What is sent while it is held arrives when it is open again. */
export class Link {
  readonly process: SimProcess
  latency_ms: readonly [low: number, high: number] = [0.1, 1.5]
  /** Of published messages on their way to the process. */
  lost = 0
  doubled = 0
  delayed = 0
  readonly held = { up: false, down: false }
  readonly #waiting: Record<'up' | 'down', (() => void)[]> = { up: [], down: [] }

  constructor(process: SimProcess) {
    this.process = process
  }

  hold(way: 'up' | 'down'): void {
    this.held[way] = true
  }

  release(): void {
    for (const way of ['up', 'down'] as const) {
      this.held[way] = false
      for (const send of this.#waiting[way].splice(0)) send()
    }
  }

  /** `arrive` is called when it has come through. */
  send(way: 'up' | 'down', arrive: () => void): void {
    if (this.held[way]) this.#waiting[way].push(arrive)
    else arrive()
  }

  delay(): number {
    return this.process.world.random.between(...this.latency_ms)
  }
}
