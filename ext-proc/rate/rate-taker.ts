import { setTimeout as wait } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { RateShares } from './rate-shares.ts'

/**
 * A minute, and what lies between the decision of one call and its arrival at the API: two calls that are decided a
 * minute apart may arrive closer together than that.
 */
export const RATE_WINDOW_MS = 60_100
/**
 * A call that is early by no more than this is held until its place is free. Without it a caller in a steady beat, for
 * which a minute is a whole number of beats, loses a place to the window's tenth of a second and another to jitter,
 * every minute; of a limit of 60 that is 3 %.
 */
const HOLD_MAX_MS = 250
/** Above this limit several calls share a place in the log; with so many places a share is 0.01 % of the limit. */
const LOG_PLACES_MAX = 10_000
/**
 * Calls that arrive while the store has a script for less than this go together with the next one. A store on the same machine has
 * answered by then; the delay is for a store that is slow or far away.
 */
const GATHER_MAX_MS = 1
/** Calls of one script, which takes about 10 µs for each that it refuses. Others wait for the store meanwhile. */
const BATCH_CALLS_MAX = 128

/** Stands for the agent where the calls of all of them count together. */
const ALL_AGENTS = '*'

export interface RateCounter {
  readonly organization_id: string
  readonly agent_id: string
  /** The calls of all agents of the scope count together. Default: those of the agent alone. */
  readonly is_shared?: boolean
  readonly scope_id: string
  /** Calls a minute. */
  readonly limit: number
}

export type RateTaken =
  | {
      readonly kind: 'allowed'
      /** Calls that may follow within `reset_s`. */
      readonly left: number
      /** Seconds until more than that may follow. */
      readonly reset_s: number
    }
  | {
      readonly kind: 'refused'
      readonly retry_after_s: number
      /** Whole minutes since the first refusal of a violation; each of them had a refusal. */
      readonly violation_minutes: number
      /** Calls in the last minute, refused ones included. */
      readonly current_rpm: number
    }

/** A call that waits for the answer of the store. */
interface Waiting {
  readonly resolve: (taken: RateTaken | Promise<RateTaken>) => void
  readonly reject: (error: unknown) => void
}

/** Calls of one scope, in their order. */
interface Batch {
  readonly name: string
  readonly counter: RateCounter
  readonly calls: Waiting[]
}

/**
 * Takes calls from the limits of scopes, in the store, so that the limits hold across edges. All calls that arrive in one turn
 * of the event loop are taken by one script, and so are those that arrive until the store has answered the script before. A
 * busy scope takes some of its next calls with them.
 */
export class RateTaker {
  readonly #redis: RedisClient
  readonly #fallback: RedisClient
  readonly #testTimeMs: (() => number) | null
  readonly #shares: RateShares
  #batches = new Map<string, Batch>()
  #calls = 0
  /** Scripts without an answer. */
  #running = 0
  #timer: NodeJS.Timeout | null = null

  /**
   * @param testTimeMs replaces the time of the store in tests, which then do not wait for it either
   * @param fallback is used while `redis` is not connected
   * @param nowMs a clock that never goes back
   */
  constructor(
    redis: RedisClient,
    testTimeMs: (() => number) | null = null,
    fallback: RedisClient = redis,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#redis = redis
    this.#fallback = fallback
    this.#testTimeMs = testTimeMs
    this.#shares = new RateShares(nowMs)
  }

  /**
   * Takes one call; resolves when it may go.
   * @throws (rejects) when the store does not answer
   */
  take(counter: RateCounter): Promise<RateTaken> {
    const { organization_id, agent_id, is_shared = false, scope_id, limit } = counter
    const name = `${organization_id} ${agent_id} ${scope_id} ${limit} ${is_shared}`
    const shared = this.#shares.take(name)
    if (shared !== null) return Promise.resolve(allowedOf(shared.left, shared.reset_ms))
    return new Promise((resolve, reject) => {
      const batch = this.#batches.get(name)
      if (batch === undefined)
        this.#batches.set(name, { name, counter, calls: [{ resolve, reject }] })
      else batch.calls.push({ resolve, reject })
      this.#calls++
      if (this.#calls >= BATCH_CALLS_MAX) this.#send()
      else if (this.#calls === 1) this.#sendSoon()
    })
  }

  #sendSoon(): void {
    // Runs after all calls that came in the same piece of Envoy's connection.
    if (this.#running === 0) process.nextTick(() => this.#send())
    else this.#timer = setTimeout(() => this.#send(), GATHER_MAX_MS)
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const batches = [...this.#batches.values()]
    if (batches.length === 0) return
    this.#batches = new Map()
    this.#calls = 0
    this.#running++
    this.#take(batches)
      .catch((error: unknown) => {
        for (const { name, calls } of batches) {
          this.#shares.giveUp(name)
          for (const { reject } of calls) reject(error)
        }
      })
      .finally(() => {
        this.#running--
        if (this.#running === 0) this.#send()
      })
  }

  async #take(batches: readonly Batch[]): Promise<void> {
    const keys = batches.flatMap(
      ({ counter: { organization_id, agent_id, is_shared, scope_id } }) => [
        REDIS_KEYS.rateLog(organization_id, is_shared ? ALL_AGENTS : agent_id, scope_id),
        REDIS_KEYS.rateViolations(organization_id, agent_id),
      ],
    )
    const asked_ms = this.#shares.now_ms
    const ahead = batches.map(({ name, counter }) => this.#shares.ask(name, counter.limit))
    const args = batches.flatMap(({ counter: { limit, scope_id }, calls }, i) => {
      const shared = Math.max(1, Math.ceil(limit / LOG_PLACES_MAX))
      return [Math.floor(limit / shared), shared, scope_id, calls.length, ahead[i] ?? 0]
    })
    const time = this.#testTimeMs?.() ?? ''
    const script_args = [RATE_WINDOW_MS, HOLD_MAX_MS, time, ...args]
    const store = this.#redis.status === 'ready' ? this.#redis : this.#fallback
    const answers = (await runScript(store, 'take-rates', keys, script_args)) as number[][]
    let next = 0
    for (const [index, { name, counter, calls }] of batches.entries()) {
      const [allowed = 0, left = 0, reset_ms = 0] = answers[next++] ?? []
      const given = { calls: Math.max(0, allowed - calls.length), left, reset_ms }
      this.#shares.keep(name, ahead[index] ?? 0, given, asked_ms)
      for (const [i, { resolve }] of calls.entries())
        resolve(
          i < allowed
            ? allowedOf(left + allowed - 1 - i, reset_ms)
            : this.#further(counter.limit, answers[next++] ?? []),
        )
    }
  }

  /** A call for which no place was free: held, or refused. */
  #further(limit: number, answer: readonly number[]): RateTaken | Promise<RateTaken> {
    const [is_allowed, wait_ms = 0, ...more] = answer
    if (is_allowed !== 1) return refusedOf(limit, wait_ms, more)
    const [left = 0, reset_ms = 0] = more
    const taken = allowedOf(left, reset_ms)
    return wait_ms > 0 && this.#testTimeMs === null ? wait(wait_ms, taken) : taken
  }
}

/** The window is a little longer than the minute of the policy. */
const allowedOf = (left: number, reset_ms: number): RateTaken => ({
  kind: 'allowed',
  left: Math.max(0, left),
  reset_s: Math.min(60, Math.max(1, Math.ceil(reset_ms / 1000))),
})

function refusedOf(limit: number, wait_ms: number, more: readonly number[]): RateTaken {
  const [violation_minutes = 0, refused = 0, refused_before = 0, minute_ms = 0] = more
  return {
    kind: 'refused',
    retry_after_s: Math.max(1, Math.ceil(wait_ms / 1000)),
    violation_minutes,
    // The minute before counts for the part of it that lies within the last 60 seconds.
    current_rpm: limit + refused + Math.round(refused_before * (1 - minute_ms / 60_000)),
  }
}
