import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import { replaceBeat } from '../../core/system/on-beat.ts'
import type { SimProcess } from './sim-process.ts'
import type { Happening, World } from './world.ts'

// The runtime that the product's code finds in a simulated process: clocks, timers and random bytes are those of the process
// whose code runs. Everything else of it, such as promises, is the real one.

class SimTimer {
  readonly #process: SimProcess
  readonly #run: () => void
  readonly #ms: number
  readonly #repeats: boolean
  #due: Happening

  constructor(process: SimProcess, run: () => void, ms: number, repeats: boolean) {
    this.#process = process
    this.#run = run
    this.#ms = ms
    this.#repeats = repeats
    this.#due = this.#schedule()
  }

  #schedule(): Happening {
    return this.#process.timer(() => {
      if (this.#repeats) this.#due = this.#schedule()
      this.#run()
    }, this.#ms)
  }

  refresh(): this {
    this.cancel()
    this.#due = this.#schedule()
    return this
  }

  cancel(): void {
    this.#due.isCancelled = true
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

type Work = (...args: unknown[]) => void

/** Replaces the runtime of this process until the returned function is called. Only one world runs at a time. */
export function simulateRuntime(worldOf: () => World): () => void {
  const here = (): SimProcess => {
    const { current } = worldOf()
    if (current === null) throw new Error('a timer outside of a simulated process')
    return current
  }
  const timer =
    (repeats: boolean) =>
    (run: Work, ms = 0, ...args: unknown[]) =>
      new SimTimer(here(), () => run(...args), ms, repeats)
  const cancel = (one: unknown): void => {
    if (one instanceof SimTimer) one.cancel()
  }
  const immediate = (run: Work, ...args: unknown[]): void => {
    const process = here()
    // After what has arrived by now.
    process.world.after(0, () => run(...args), process)
  }
  const RealDate = Date
  class SimDate extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(SimDate.now())
      else super(...(args as [number]))
    }

    static override now(): number {
      const { current } = worldOf()
      return current === null ? RealDate.now() : Math.floor(current.wallMs())
    }
  }
  const real = performance.now.bind(performance)
  const globals = {
    setTimeout: timer(false),
    setInterval: timer(true),
    setImmediate: immediate,
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: cancel,
    Date: SimDate,
  }
  const restore: (() => void)[] = []
  const replace = (target: object, values: object): void => {
    for (const [name, value] of Object.entries(values)) {
      const before = (target as Record<string, unknown>)[name]
      Object.defineProperty(target, name, { value, writable: true, configurable: true })
      restore.push(() =>
        Object.defineProperty(target, name, { value: before, writable: true, configurable: true }),
      )
    }
  }
  replace(globalThis, globals)
  replace(performance, { now: () => worldOf().current?.monotonicMs() ?? real() })
  replace(AbortSignal, {
    timeout: (ms: number) => {
      const given = new AbortController()
      globals.setTimeout(() => given.abort(), ms)
      return given.signal
    },
  })
  replace(Math, { random: () => here().random.next() })
  replace(timersPromises, {
    setTimeout: (ms: number, value: unknown) =>
      new Promise((resolve) => globals.setTimeout(() => resolve(value), ms)),
    setImmediate: (value: unknown) =>
      new Promise((resolve) => globals.setImmediate(() => resolve(value))),
  })
  const hex = (count: number): string => here().random.bytes(count).toString('hex')
  replace(crypto, {
    randomBytes: (count: number) => here().random.bytes(count),
    randomUUID: () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-8${hex(2).slice(1)}-${hex(6)}`,
  })
  replaceBeat(() => here().beat)
  syncBuiltinESMExports()
  return () => {
    for (const undo of restore.reverse()) undo()
    syncBuiltinESMExports()
  }
}
