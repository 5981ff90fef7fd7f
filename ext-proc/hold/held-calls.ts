import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'

/** Held calls of one agent, over all edges; further ones are answered at once. */
export const AGENT_HELD_MAX = 100
/** Held calls of this process: each keeps a stream and its facts. Organizations that want more share them evenly. */
export const EDGE_HELD_MAX = 1_000
/** A decision whose message is lost is found so soon. */
const LOOK_INTERVAL_MS = 1_000

/** A call that waits for the decision about its request. */
export interface HeldCall {
  readonly organization_id: string
  readonly agent_id: string
  /** Of the access request. */
  readonly request_id: string
  /** Of the call, which is unique. */
  readonly call_id: string
}

/**
 * Why a wait is over: the request may be decided (`look`), the time is over, the call has ended, this process takes no more calls, or too
 * many calls wait.
 */
export type HoldEnd = 'look' | 'over' | 'ended' | 'draining' | 'full'

interface Waiting extends HeldCall {
  readonly wake: (why: HoldEnd) => void
}

/** The calls of this process that wait for a person. */
export class HeldCalls {
  readonly #redis: RedisClient
  readonly #waiting = new Map<string, Set<Waiting>>()
  #size = 0
  /** Of each organization, with those that the store has yet to count. */
  readonly #sizes = new Map<string, number>()
  #isDraining = false
  #looking: NodeJS.Timeout | null = null
  #isLooking = false

  constructor(redis: RedisClient) {
    this.#redis = redis
  }

  get size(): number {
    return this.#size
  }

  /**
   * Waits until something may have been decided.
   * @param ended resolves when the call has ended
   * @param onHeld called once the call waits: `full` and `draining` are answered before
   * @throws (rejects) when the store does not answer
   */
  async wait(
    held: HeldCall,
    most_ms: number,
    ended: Promise<void>,
    onHeld: () => void,
  ): Promise<HoldEnd> {
    if (this.#isDraining) return 'draining'
    if (this.#size >= EDGE_HELD_MAX && !this.#makeRoom(held.organization_id)) return 'full'
    this.#add(held, 1)
    try {
      if (!(await this.#count(held, most_ms))) return 'full'
      onHeld()
      return await this.#untilWoken(held, most_ms, ended)
    } finally {
      this.#add(held, -1)
      // The store forgets it by itself at the end of its time.
      this.#redis.zrem(keyOf(held), held.call_id).catch(() => undefined)
    }
  }

  /** A message says that something was decided about the request. */
  decided(organization_id: string, request_id: string): void {
    this.#wakeAll(`${organization_id} ${request_id}`, 'look')
  }

  /** This process stops: its held calls are answered, so that their callers can ask another one. */
  drain(): void {
    this.#isDraining = true
    for (const key of this.#waiting.keys()) this.#wakeAll(key, 'draining')
  }

  async #count(held: HeldCall, most_ms: number): Promise<boolean> {
    const args = [held.call_id, Math.ceil(most_ms), AGENT_HELD_MAX]
    return (await runScript(this.#redis, 'hold-call', [keyOf(held)], args)) === 1
  }

  async #untilWoken(held: HeldCall, most_ms: number, ended: Promise<void>): Promise<HoldEnd> {
    // It may have begun to drain since.
    if (this.#isDraining) return 'draining'
    const key = `${held.organization_id} ${held.request_id}`
    let waiting: Waiting | null = null
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<HoldEnd>((resolve) => {
        waiting = { ...held, wake: resolve }
        const others = this.#waiting.get(key)
        if (others === undefined) this.#waiting.set(key, new Set([waiting]))
        else others.add(waiting)
        timer = setTimeout(() => resolve('over'), most_ms)
        void ended.then(() => resolve('ended'))
        this.#looking ??= setInterval(() => void this.#look(), LOOK_INTERVAL_MS)
      })
    } finally {
      clearTimeout(timer)
      if (waiting !== null) this.#forget(key, waiting)
    }
  }

  #forget(key: string, waiting: Waiting): void {
    const others = this.#waiting.get(key)
    others?.delete(waiting)
    if (others?.size === 0) this.#waiting.delete(key)
    if (this.#waiting.size > 0 || this.#looking === null) return
    clearInterval(this.#looking)
    this.#looking = null
  }

  /** An outage is no decision: the calls wait on. */
  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    await this.#lookAtAll()
    this.#isLooking = false
  }

  async #lookAtAll(): Promise<void> {
    const keys = [...this.#waiting.keys()]
    await Promise.all(
      keys.map(async (key) => {
        const [organization_id = '', request_id = ''] = key.split(' ')
        const request = REDIS_KEYS.accessRequest(organization_id, request_id)
        const status = await this.#redis.hget(request, 'status').catch(() => 'pending')
        if (status !== 'pending') this.#wakeAll(key, 'look')
      }),
    )
  }

  #add({ organization_id }: HeldCall, change: 1 | -1): void {
    this.#size += change
    const size = (this.#sizes.get(organization_id) ?? 0) + change
    if (size === 0) this.#sizes.delete(organization_id)
    else this.#sizes.set(organization_id, size)
  }

  /** Ends the newest hold of the organization with the most. False if that would not have more than this one then has. */
  #makeRoom(organization_id: string): boolean {
    const held = new Map<string, Waiting[]>()
    for (const waiting of [...this.#waiting.values()].flatMap((some) => [...some])) {
      const others = held.get(waiting.organization_id)
      if (others === undefined) held.set(waiting.organization_id, [waiting])
      else others.push(waiting)
    }
    const [most = []] = [...held.values()].toSorted((a, b) => b.length - a.length)
    const last = most.at(-1)
    const own = this.#sizes.get(organization_id) ?? 0
    if (last === undefined || most.length <= own + 1) return false
    this.#forget(`${last.organization_id} ${last.request_id}`, last)
    last.wake('full')
    return true
  }

  #wakeAll(key: string, why: HoldEnd): void {
    for (const { wake } of this.#waiting.get(key) ?? []) wake(why)
  }
}

const keyOf = ({ organization_id, agent_id }: HeldCall): string =>
  REDIS_KEYS.heldCalls(organization_id, agent_id)
