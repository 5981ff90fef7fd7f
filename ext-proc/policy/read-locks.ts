import type { Lock } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** Learns about locks from every read of them. */
export interface LockFlags {
  /** Take this before reading the store, and pass it on with the result of the read. */
  lockMoment(): number
  learnLock(organization_id: string, lock_id: string, lock: Lock | 'lifted', since: number): void
}

/**
 * Reads the locks of an organization, or those of everything. One that is missing and was not lifted stays in force: it is compared
 * with the store after each lost connection.
 * @throws (rejects) if the store cannot be read
 */
export async function readLocks(
  redis: RedisClient,
  flags: LockFlags,
  organization_id: string,
): Promise<void> {
  const since = flags.lockMoment()
  for (const text of await redis.hvals(REDIS_KEYS.locks(organization_id))) {
    const lock = JSON.parse(text) as Lock
    flags.learnLock(organization_id, lock.lock_id, lock, since)
  }
}
