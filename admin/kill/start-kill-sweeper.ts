import { sweepKills } from '../../core/kill/sweep-kills.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** How often unfinished kills are looked for while there are any; the event of an automatic kill is delayed by twice this at most. */
const SWEEP_INTERVAL_MS = 250
/** How often while there are none. An acknowledgement announces a kill earlier; this finds one that no edge acknowledges. */
const IDLE_INTERVAL_MS = 1_000

/** Every admin process sweeps; the first one completes a kill. Returns the function that stops it. */
export function startKillSweeper(parts: {
  readonly redis: RedisClient
  /** Receives the acknowledgements of all edges. */
  readonly subscription: RedisClient
  readonly lease_ms: number
  readonly log: { warn(data: object, message: string): void }
}): () => void {
  let isStopped = false
  let isIdle = false
  let wasAcknowledged = false
  let timer: NodeJS.Timeout
  const sweep = async (): Promise<void> => {
    isIdle = false
    wasAcknowledged = false
    // The store is unavailable; the next sweep does the same work.
    const found = await sweepKills(parts).catch(() => 1)
    if (isStopped) return
    // An acknowledgement that arrived meanwhile may be of a kill that this sweep did not see.
    isIdle = found === 0 && !wasAcknowledged
    timer = setTimeout(() => void sweep(), isIdle ? IDLE_INTERVAL_MS : SWEEP_INTERVAL_MS)
  }
  const sweepSoon = (): void => {
    wasAcknowledged = true
    if (!isIdle || isStopped) return
    isIdle = false
    clearTimeout(timer)
    timer = setTimeout(() => void sweep(), SWEEP_INTERVAL_MS)
  }
  timer = setTimeout(() => void sweep(), SWEEP_INTERVAL_MS)
  parts.subscription.on('message', sweepSoon)
  return () => {
    isStopped = true
    clearTimeout(timer)
    parts.subscription.off('message', sweepSoon)
  }
}
