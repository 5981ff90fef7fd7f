import type { SimProcess } from './sim-process.ts'
import { Random } from './random.ts'

/** Something that happens at a moment, to a process or to the world. */
export interface Happening {
  at_ms: number
  order: number
  readonly run: () => void
  readonly process: SimProcess | null
  readonly incarnation: number
  /** Data from one connection is read in its order. */
  readonly source: object | null
  isCancelled: boolean
}

export class Violation extends Error {
  readonly rule: string

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`)
    this.rule = rule
  }
}

/** Taken before anything is replaced by the simulation. */
const nextTurn = setImmediate
/** Steps in one turn of the event loop: what a step leads to at once ends before the next callback of the same turn as well. */
const STEPS_A_TURN = 64

/** Time, and what happens in it. One thing at a time; what it leads to at once has ended before the next. */
export class World {
  /** Since the start, by no process's clock. */
  now_ms = 0
  readonly random: Random
  /** Called after each step. */
  check: () => void = () => undefined
  /** The process whose code runs. */
  current: SimProcess | null = null
  events = 0
  readonly lines: string[] | null
  #queue: Happening[] = []
  #order = 0
  /** Of all that happened: two runs of one seed have the same. */
  digest = 0
  #failure: unknown = null

  constructor(seed: number, isTraced = false) {
    this.random = new Random(seed)
    this.lines = isTraced ? [] : null
  }

  fail(error: unknown): void {
    this.#failure ??= error
  }

  note(text: string): void {
    this.lines?.push(`${this.now_ms.toFixed(1).padStart(9)} ${text}`)
  }

  at(
    at_ms: number,
    run: () => void,
    process: SimProcess | null = null,
    source: object | null = null,
  ): Happening {
    const happening: Happening = {
      at_ms: Math.max(at_ms, this.now_ms),
      order: this.#order++,
      run,
      process,
      incarnation: process?.incarnation ?? 0,
      source,
      isCancelled: false,
    }
    this.#push(happening)
    return happening
  }

  after(
    ms: number,
    run: () => void,
    process: SimProcess | null = null,
    source: object | null = null,
  ): Happening {
    return this.at(this.now_ms + ms, run, process, source)
  }

  /** Of a process that goes on after a pause. */
  again(happening: Happening): void {
    happening.at_ms = this.now_ms
    happening.order = this.#order++
    this.#push(happening)
  }

  /** @throws what a check or a process has thrown */
  run(until_ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const isAtEnd = (): boolean => {
        if (this.#failure !== null) throw this.#failure as Error
        const next = this.#queue[0]
        if (next === undefined || next.at_ms > until_ms) {
          this.now_ms = until_ms
          return true
        }
        this.#pop()
        this.now_ms = next.at_ms
        this.#happen(next)
        return false
      }
      const step = (isFirst: boolean): void => {
        if (isOver) return
        try {
          this.current = null
          if (!isFirst) this.check()
          isOver = isAtEnd()
          if (isOver) resolve()
        } catch (error) {
          isOver = true
          reject(error as Error)
        }
      }
      const turn = (): void => {
        if (isOver) return
        for (let i = 1; i < STEPS_A_TURN; i++) nextTurn(step, false)
        nextTurn(() => {
          step(false)
          turn()
        })
      }
      step(true)
      turn()
    })
  }

  #happen(next: Happening): void {
    if (next.isCancelled) return
    const { process } = next
    if (process !== null && !process.admits(next)) return
    this.events++
    this.digest = (this.digest * 31 + Math.round(next.at_ms * 1000) + (process?.number ?? 0)) | 0
    this.current = process
    next.run()
  }

  #push(happening: Happening): void {
    const queue = this.#queue
    let at = queue.length
    queue.push(happening)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = queue[above] as Happening
      if (isEarlier(parent, happening)) break
      queue[at] = parent
      at = above
    }
    queue[at] = happening
  }

  #pop(): void {
    const queue = this.#queue
    const last = queue.pop() as Happening
    if (queue.length === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= queue.length) break
      const right = queue[below + 1]
      if (right !== undefined && isEarlier(right, queue[below] as Happening)) below++
      const child = queue[below] as Happening
      if (isEarlier(last, child)) break
      queue[at] = child
      at = below
    }
    queue[at] = last
  }
}

const isEarlier = (a: Happening, b: Happening): boolean =>
  a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.order < b.order)
