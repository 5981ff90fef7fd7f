import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import {
  otherStore,
  readSeenStore,
  readStoreIdentity,
  type SeenStore,
  writeSeenStore,
} from '../../core/store/deployment-file.ts'
import { refuseOldVersion } from '../../core/store/minimum-version.ts'

const WRITE_INTERVAL_MS = 5_000

interface Parts {
  readonly redis: RedisClient
  /** Null: nothing is remembered. */
  readonly file: string | null
  readonly log: Logger
}

/**
 * Before anything is written to the store.
 * @throws a sentence for the operator when the store is empty or another one although this machine remembers one
 */
export async function refuseOtherStore({ redis, file }: Pick<Parts, 'redis' | 'file'>) {
  await refuseOldVersion(redis)
  const since = await redis.get(REDIS_KEYS.restoring)
  if (since !== null)
    throw new Error(
      `A restore that began at ${since} is not complete. Wait for it; if it was interrupted, run agw restore again.`,
    )
  if (file === null) return
  const other = otherStore(file, readSeenStore(file), await readStoreIdentity(redis))
  if (other !== null) throw new Error(other)
}

/**
 * Remembers from now on how far the store is.
 * @returns the function that stops it
 */
export async function rememberStore(parts: Parts): Promise<() => void> {
  const { redis, file } = parts
  if (file === null) return () => undefined
  const found = await readStoreIdentity(redis)
  // A full disk must not end the service, nor keep it from starting; the file is then only older.
  const remember = (now: SeenStore): void => {
    try {
      writeSeenStore(file, now)
    } catch (error) {
      parts.log.warn({ err: error }, `${file} could not be written`)
    }
  }
  if (found !== null) remember(found)
  const stopped = new AbortController()
  const { signal } = stopped
  const keep = async (): Promise<void> => {
    let last = found?.epoch ?? 0
    for (;;) {
      await wait(WRITE_INTERVAL_MS, undefined, { signal, ref: false })
      const now = await readStoreIdentity(redis).catch(() => null)
      if (now === null || now.epoch <= last) continue
      last = now.epoch
      remember(now)
    }
  }
  keep().catch(() => undefined)
  return () => stopped.abort()
}
