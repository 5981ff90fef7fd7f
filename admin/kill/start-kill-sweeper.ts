import { sweepKills } from '../../core/kill/sweep-kills.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** How often kills are looked for that nobody has finished; an automatic kill's event is late by this at most. */
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
      // The store is away: the next sweep finds what this one would have.
      .catch(() => undefined)
      .finally(() => {
        isBusy = false
      })
  }, SWEEP_INTERVAL_MS)
  return () => clearInterval(timer)
}
