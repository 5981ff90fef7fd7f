import type { Logger } from 'pino'
import type { AlertCause } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import type { DiskReserve } from '../../core/redis/disk-reserve.ts'
import { acceptsWrites } from '../../core/redis/accepts-writes.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

const INTERVAL_MS = 1_000
/** Given up as soon as the disk is full, so that calls go on while an operator acts. Kills have the rest. */
const KILLS_SHARE = 0.5
/** Free space in sizes of the reserve: below the first an alert is raised, above the second the next one may be. */
const LOW_FACTOR = 4
const CALM_FACTOR = 5
/** What a refill leaves free, so that it does not fill the disk itself. */
const REFILL_FACTOR = 2

export interface DiskWatch {
  readonly redis: RedisClient
  readonly reserve: DiskReserve
  readonly organization_id: string
  readonly log: Pick<Logger, 'error' | 'warn' | 'info'>
  readonly interval_ms?: number
}

/**
 * Keeps the reserve on the disk of the store at its full size while there is space, gives up half of it when the store can no
 * longer write, and raises an alert then and before. Returns the function that stops it.
 */
export function watchDisk(parts: DiskWatch): () => void {
  const { redis, reserve, organization_id, log, interval_ms = INTERVAL_MS } = parts
  const { full_bytes } = reserve
  let isFull = false
  let isLow = false
  let isUnfilled = false
  /** An alert that the store has not taken yet. */
  let owed: AlertCause | null = null

  const giveUp = async (): Promise<void> => {
    const freed_bytes = await reserve.shrinkTo(full_bytes * KILLS_SHARE)
    if (isFull) return
    isFull = true
    const left_bytes = await reserve.sizeBytes()
    const title = `The disk of the store was full, so calls and changes were refused. Its reserve has ${mib(left_bytes)} left for kills and reactivations. Free space now.`
    log.error({ freed_bytes, left_bytes }, title)
    owed = causeOf(title, { freed_bytes, left_bytes })
  }

  const checkSpace = async (): Promise<void> => {
    const [free_bytes, size_bytes] = await Promise.all([reserve.freeBytes(), reserve.sizeBytes()])
    if (free_bytes >= full_bytes * CALM_FACTOR) isLow = false
    if (!isLow && free_bytes < full_bytes * LOW_FACTOR) {
      isLow = true
      const title = `The disk of the store has ${mib(free_bytes)} of free space. When it is full, calls and changes are refused; kills and reactivations use a reserve. Free space.`
      log.error({ free_bytes, reserve_bytes: size_bytes }, title)
      owed ??= causeOf(title, { free_bytes, reserve_bytes: size_bytes })
    }
    if (size_bytes >= full_bytes) return
    if (free_bytes < full_bytes * REFILL_FACTOR + (full_bytes - size_bytes)) {
      if (!isUnfilled)
        log.warn(
          { free_bytes, size_bytes, full_bytes },
          'the disk of the store has no space for the whole reserve',
        )
      isUnfilled = true
      return
    }
    await reserve.fill()
    isUnfilled = false
  }

  const check = async (): Promise<void> => {
    const accepts = await acceptsWrites(redis)
    if (accepts === 'disk_full') return await giveUp()
    // An outage is reported elsewhere.
    if (accepts === 'unknown') return
    isFull = false
    if (owed !== null) {
      await raiseAlert(redis, organization_id, owed, new Date())
      owed = null
    }
    await checkSpace()
  }

  let isChecking = false
  const look = (): void => {
    if (isChecking) return
    isChecking = true
    check()
      .catch((error: unknown) => {
        if (!isUnfilled)
          log.warn({ err: error }, 'the reserve on the disk of the store could not be kept')
        isUnfilled = true
      })
      .finally(() => {
        isChecking = false
      })
  }
  look()
  const timer = setInterval(look, interval_ms)
  return () => clearInterval(timer)
}

const causeOf = (title: string, occurrence: AlertCause['occurrence']): AlertCause => ({
  about: 'store_disk',
  kind: 'store_disk',
  severity: 'critical',
  title,
  occurrence,
})

const mib = (bytes: number): string => `${Math.floor(bytes / (1 << 20))} MiB`
