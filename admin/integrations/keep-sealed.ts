import type { Logger } from 'pino'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/seal.ts'
import { resealAll } from './reseal-all.ts'

/** How often live edges of an older version are looked for. */
const RETRY_INTERVAL_MS = 5_000

/**
 * Seals what is stored under the newest key and in the newest form, now or, during an upgrade, as soon as no edge of an
 * older version is left. Returns the function that stops the waiting.
 */
export async function keepSealed(parts: {
  readonly redis: RedisClient
  readonly ring: KeyRing
  readonly lease_ms: number
  readonly log: Logger
}): Promise<() => void> {
  const { redis, ring, lease_ms, log } = parts
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const seal = async (isFirst: boolean): Promise<void> => {
    const { resealed, unreadable, waits_for } = await resealAll(redis, ring, lease_ms)
    if (resealed > 0) log.info({ resealed }, 'stored credentials were re-encrypted')
    if (unreadable.length > 0 && isFirst)
      log.error({ unreadable }, 'credentials that cannot be decrypted with any key; set them again')
    if (waits_for.length === 0) return
    if (isFirst)
      log.warn(
        { edges: waits_for },
        'some user names stay unencrypted in the store until these edges run this version',
      )
    wait()
  }
  const wait = (): void => {
    if (isStopped) return
    timer = setTimeout(() => {
      seal(false).catch((error: unknown) => {
        log.warn({ err: error }, 'encrypting stored credentials failed; it will be retried')
        wait()
      })
    }, RETRY_INTERVAL_MS)
    timer.unref()
  }
  await seal(true)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
