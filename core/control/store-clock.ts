import type { RedisClient } from '../redis/run-script.ts'
import { SKEW_NOTICE_MS } from './clock-skews.ts'

/** How far two clocks may drift apart in a second. */
const DRIFT = 0.001

const LOOK_INTERVAL_MS = 5_000
/** While it does not answer. */
const LOOK_AGAIN_MS = 200

/** When a log entry or a kill was made. */
export interface Time {
  readonly ms: number
  /** How far the clock of this host is ahead of it; 0 unless that is a second or more. */
  readonly offset_ms: number
}

/** When the store told its time: by the clock of this process, between `sent_ms` and `heard_ms`. */
interface TimeOfStore {
  readonly store_ms: number
  readonly sent_ms: number
  readonly heard_ms: number
}

/**
 * The clock of the store, which all edges share: a grant ends on all of them at the same moment, whatever the clocks of their hosts
 * say. Each heartbeat brings a sample; the one with the least error counts until its error has grown larger than that of a new one.
 */
export class StoreClock {
  readonly #steadyMs: () => number
  #ahead_ms: number
  #error_ms = Number.POSITIVE_INFINITY
  #taken_ms = 0

  /** @param steadyMs never goes back. `wallMs` counts until the store has told its time. */
  constructor(steadyMs: () => number, wallMs: () => number) {
    this.#steadyMs = steadyMs
    this.#ahead_ms = wallMs() - steadyMs()
  }

  /** Unix time. */
  readonly nowMs = (): number => Math.floor(this.#steadyMs() + this.#ahead_ms)

  /** The time of the host, or that of the store where they differ by a second or more. */
  readonly now = (): Time => {
    const [host_ms, ms] = [Date.now(), this.nowMs()]
    const offset_ms = host_ms - ms
    return Math.abs(offset_ms) < SKEW_NOTICE_MS ? { ms: host_ms, offset_ms: 0 } : { ms, offset_ms }
  }

  /** @param told in the time of `steadyMs` */
  learn({ store_ms, sent_ms, heard_ms }: TimeOfStore): void {
    const error_ms = (heard_ms - sent_ms) / 2
    const ahead_ms = store_ms - (sent_ms + heard_ms) / 2
    const grown_ms = this.#error_ms + (heard_ms - this.#taken_ms) * DRIFT
    const hasStepped = Math.abs(ahead_ms - this.#ahead_ms) > grown_ms + error_ms
    if (error_ms > grown_ms && !hasStepped) return
    this.#ahead_ms = ahead_ms
    this.#error_ms = error_ms
    this.#taken_ms = heard_ms
  }
}

/** Asks the store from time to time, where no heartbeat does. */
export function followStore(redis: Pick<RedisClient, 'time'>): StoreClock {
  const clock = new StoreClock(() => performance.now(), Date.now)
  const look = async (): Promise<void> => {
    const sent_ms = performance.now()
    const isHeard = await redis.time().then(
      ([seconds, micros]) => {
        const store_ms = Number(seconds) * 1000 + Number(micros) / 1000
        clock.learn({ store_ms, sent_ms, heard_ms: performance.now() })
        return true
      },
      () => false,
    )
    setTimeout(() => void look(), isHeard ? LOOK_INTERVAL_MS : LOOK_AGAIN_MS).unref()
  }
  void look()
  return clock
}

/** What `data` of an entry says of a time that the clock of its host differs from. */
export const offsetNote = ({ offset_ms }: Time): Readonly<Record<string, number>> =>
  offset_ms === 0 ? {} : { clock_offset_ms: offset_ms }
