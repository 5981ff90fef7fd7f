import type { SimProcess } from './sim-process.ts'

/** What a connection is for. */
export const ROLES = ['commands', 'urgent', 'subscription', 'queue'] as const

export type Role = (typeof ROLES)[number]

type Way = 'up' | 'down'

export const NORMAL_MS = [0.1, 1.5] as const

/** The way between a process and the store, for its connections of one kind. What is sent while it is held arrives when it is open again. */
export class Link {
  readonly process: SimProcess
  latency_ms: readonly [low: number, high: number] = NORMAL_MS
  /** Of published messages on their way to the process. */
  lost = 0
  doubled = 0
  delayed = 0
  /** The store answers each command with an error. */
  fails = false
  /** Since when it is held in a way or both; null: it is not. */
  held_since_ms: number | null = null
  readonly #held = { up: false, down: false }
  readonly #waiting: Record<Way, (() => void)[]> = { up: [], down: [] }

  constructor(process: SimProcess) {
    this.process = process
  }

  hold(way: Way): void {
    this.#held[way] = true
    this.held_since_ms ??= this.process.world.now_ms
  }

  release(): void {
    this.held_since_ms = null
    for (const way of ['up', 'down'] as const) {
      this.#held[way] = false
      for (const send of this.#waiting[way].splice(0)) send()
    }
  }

  /** As it is without faults. */
  calm(): void {
    Object.assign(this, {
      lost: 0,
      doubled: 0,
      delayed: 0,
      fails: false,
      latency_ms: NORMAL_MS,
    })
    this.release()
  }

  /** `arrive` is called when it has come through. */
  send(way: Way, arrive: () => void): void {
    if (this.#held[way]) this.#waiting[way].push(arrive)
    else arrive()
  }

  delay(): number {
    return this.process.world.random.between(...this.latency_ms)
  }
}

/** All ways of a process. */
export type Links = Readonly<Record<Role, Link>>

export const linksOf = (process: SimProcess): Links => ({
  commands: new Link(process),
  urgent: new Link(process),
  subscription: new Link(process),
  queue: new Link(process),
})
