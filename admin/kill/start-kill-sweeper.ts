import { sweepKills } from '../../core/kill/sweep-kills.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** How often unfinished kills are looked for; the event of an automatic kill is delayed by this at most. */
const SWEEP_INTERVAL_MS = 250

/** Every admin process sweeps; the first one completes a kill. Returns the function that stops it. */
export function startKillSweeper(parts: {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly log: { warn(data: object, message: string): void }
}): () => void {
  let isBusy = false
  const timer = setInterval(() => {
    if (isBusy) return
    isBusy = true
    sweepKills(parts)
      // The store is unavailable; the next sweep does the same work.
      .catch(() => undefined)
      .finally(() => {
        isBusy = false
      })
  }, SWEEP_INTERVAL_MS)
  return () => clearInterval(timer)
}
