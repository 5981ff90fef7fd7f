import type { Logger } from 'pino'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { resolveAlert } from '../../core/alerts/resolve-alert.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

const INTERVAL_MS = 10_000
/** Of maxmemory. What is left is time for an operator; the activity log alone takes at most half. */
const ALERT_SHARE = 0.85
/** Below this, the next rise is a new occurrence. */
const CALM_SHARE = 0.8

export interface MemoryWatch {
  readonly redis: RedisClient
  readonly organization_id: string
  readonly log: Pick<Logger, 'error' | 'info'>
  readonly interval_ms?: number
}

/** Raises an alert before the memory of the store is full. Returns the function that stops the checks. */
export function watchMemory(parts: MemoryWatch): () => void {
  const { redis, organization_id, log, interval_ms = INTERVAL_MS } = parts
  let isTold = false
  const check = async (): Promise<void> => {
    const info = await redis.info('memory')
    const used_bytes = numberIn(info, 'used_memory')
    const max_bytes = numberIn(info, 'maxmemory')
    if (max_bytes === 0 || used_bytes < max_bytes * CALM_SHARE) {
      isTold = false
      const resolution = 'The store has enough memory again.'
      await resolveAlert(redis, organization_id, 'store_memory', { resolution, at: new Date() })
    }
    if (isTold || max_bytes === 0 || used_bytes < max_bytes * ALERT_SHARE) return
    const percent = Math.floor((used_bytes / max_bytes) * 100)
    const title = `The store uses ${percent} % of its memory (maxmemory). When it is full, calls and changes are refused; kills still work. Raise maxmemory, or lower AGW_ACTIVITY_MAX_BYTES.`
    log.error({ used_bytes, max_bytes }, title)
    await raiseAlert(
      redis,
      organization_id,
      {
        about: 'store_memory',
        kind: 'store_memory',
        severity: 'critical',
        title,
        occurrence: { used_bytes, max_bytes },
      },
      new Date(),
    )
    isTold = true
  }
  // A store that does not answer is checked again later, and its outage is reported elsewhere.
  const timer = setInterval(() => void check().catch(() => undefined), interval_ms)
  return () => clearInterval(timer)
}

const numberIn = (info: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0)
