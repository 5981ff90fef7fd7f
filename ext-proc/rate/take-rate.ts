import { setTimeout as wait } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'

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

export interface RateCounter {
  readonly organization_id: string
  readonly agent_id: string
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

/**
 * Takes one call from the limit of a scope, in the store, so that it holds across edges; answers when the call may go.
 * `test_time_ms` replaces the time of the store in tests, which then do not wait for it either.
 * @throws (rejects) when the store does not answer
 */
export async function takeRate(
  redis: RedisClient,
  counter: RateCounter,
  test_time_ms?: number,
): Promise<RateTaken> {
  const { organization_id, agent_id, scope_id, limit } = counter
  const shared = Math.max(1, Math.ceil(limit / LOG_PLACES_MAX))
  const [is_allowed, wait_ms, ...more] = (await runScript(
    redis,
    'take-rate',
    [
      REDIS_KEYS.rateLog(organization_id, agent_id, scope_id),
      REDIS_KEYS.rateViolations(organization_id, agent_id),
    ],
    [
      Math.floor(limit / shared),
      shared,
      RATE_WINDOW_MS,
      scope_id,
      HOLD_MAX_MS,
      ...(test_time_ms === undefined ? [] : [test_time_ms]),
    ],
  )) as [number, number, number, number, number, number]
  if (is_allowed === 1) {
    const [left, reset_ms] = more
    if (wait_ms > 0 && test_time_ms === undefined) await wait(wait_ms)
    // The window is a little longer than the minute of the policy.
    return { kind: 'allowed', left, reset_s: Math.min(60, Math.max(1, Math.ceil(reset_ms / 1000))) }
  }
  const [violation_minutes, refused, refused_before, minute_ms] = more
  return {
    kind: 'refused',
    retry_after_s: Math.max(1, Math.ceil(wait_ms / 1000)),
    violation_minutes,
    // The minute before counts for the part of it that lies within the last 60 seconds.
    current_rpm: limit + refused + Math.round(refused_before * (1 - minute_ms / 60_000)),
  }
}
