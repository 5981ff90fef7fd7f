import { Beat } from '../../core/system/on-beat.ts'
import { Random } from './random.ts'
import type { Happening, World } from './world.ts'

/** A process: its clocks, and whether it runs. What is due while it is paused happens when it goes on. */
export class SimProcess {
  readonly world: World
  readonly name: string
  readonly number: number
  readonly random: Random
  isAlive = false
  isPaused = false
  /** Since when it does nothing: it is paused or ended. */
  idle_since_ms: number | null = null
  /** Increases with each start: nothing of the one before happens any more. */
  incarnation = 0
  /** Of its monotonic clock: how fast it goes. */
  rate = 1
  /** What its clock of the day is ahead. */
  ahead_ms = 0
  /** It is of a newer version than the others. */
  isNewer = false
  /** It ends when so many more things have happened to it; null: not soon. */
  endsAfter: number | null = null
  onEnd: () => void = () => undefined
  resumed_ms = Number.NEGATIVE_INFINITY
  started_ms = 0
  /** What it does each second. */
  beat = new Beat()
  #backlog: Happening[] = []

  constructor(world: World, name: string, number: number) {
    this.world = world
    this.name = name
    this.number = number
    this.random = new Random(world.random.whole(1, 1e9))
  }

  start(): void {
    this.incarnation++
    this.isAlive = true
    this.started_ms = this.world.now_ms
    this.isPaused = false
    this.idle_since_ms = null
    this.endsAfter = null
    this.beat = new Beat()
    this.#backlog = []
  }

  /** Without a word, as by SIGKILL or a power cut. */
  end(): void {
    if (!this.isAlive) return
    this.world.note(`${this.name} ends`)
    this.isAlive = false
    this.idle_since_ms ??= this.world.now_ms
    this.incarnation++
    this.#backlog = []
    this.onEnd()
  }

  pause(): void {
    if (!this.isAlive) return
    this.isPaused = true
    this.idle_since_ms ??= this.world.now_ms
  }

  /** What has become due happens: timers before data or after, and the data of each connection in its order. */
  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.idle_since_ms = null
    this.resumed_ms = this.world.now_ms
    const backlog = this.#backlog
    this.#backlog = []
    const timers = backlog.filter(({ source }) => source === null)
    const bySource = new Map<object, Happening[]>()
    for (const one of backlog) {
      if (one.source === null) continue
      const list = bySource.get(one.source)
      if (list === undefined) bySource.set(one.source, [one])
      else list.push(one)
    }
    const groups = [...bySource.values()]
    const data: Happening[] = []
    while (groups.length > 0)
      data.push(...groups.splice(this.random.whole(0, groups.length - 1), 1).flat())
    const isTimersFirst = this.random.chance(0.5)
    for (const one of isTimersFirst ? [...timers, ...data] : [...data, ...timers])
      this.world.again(one)
  }

  /** Whether it happens now. */
  admits(happening: Happening): boolean {
    if (happening.incarnation !== this.incarnation || !this.isAlive) return false
    if (this.isPaused) {
      this.#backlog.push(happening)
      return false
    }
    if (this.endsAfter !== null && this.endsAfter-- <= 0) {
      this.end()
      return false
    }
    return true
  }

  monotonicMs(): number {
    return 1_000_000 + this.world.now_ms * this.rate
  }

  wallMs(): number {
    return START_MS + this.world.now_ms * this.rate + this.ahead_ms
  }

  timer(run: () => void, ms: number): Happening {
    return this.world.after(Math.max(1, ms) / this.rate, run, this)
  }

  /** Runs in this process at once. */
  run(work: () => void): void {
    this.world.after(0, work, this)
  }
}

/** 2026-06-01 */
export const START_MS = 1_780_272_000_000
