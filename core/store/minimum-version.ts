import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isStoreError } from '../redis/is-store-error.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { version } from '../system/version.ts'
import { isOlderVersion } from './edge-members.ts'

/** The field of REDIS_KEYS.requirements. */
export const MINIMUM_VERSION = 'minimum_version'

/** How long a start waits for a store that is not there yet. */
const START_LIMIT_MS = 2_000
const POLL_MS = 50

export const readMinimumVersion = (redis: RedisClient): Promise<string | null> =>
  redis.hget(REDIS_KEYS.requirements, MINIMUM_VERSION)

/** @throws (rejects) a sentence for the operator if the store has data that this version misreads */
export async function refuseOldVersion(redis: RedisClient): Promise<void> {
  const minimum = await readMinimumVersion(redis)
  if (minimum !== null && isOlderVersion(version, minimum))
    throw new Error(
      `The store needs version ${minimum} or later, and this is ${version}: the store has data that this version would misread. Install ${minimum} or later, or restore a backup that this version has made.`,
    )
}

/**
 * Makes a check when a process starts. While the store does not answer, there is nothing to check, and after a moment the process starts
 * without it.
 * @throws (rejects) what the check throws
 */
export async function checkAtStart(redis: RedisClient, check: () => Promise<void>): Promise<void> {
  const deadline_ms = performance.now() + START_LIMIT_MS
  while (!(await isMade(redis, check))) {
    if (performance.now() > deadline_ms) return
    await wait(POLL_MS)
  }
}

/** False while the store does not answer. */
async function isMade(redis: RedisClient, check: () => Promise<void>): Promise<boolean> {
  try {
    await redis.ping()
  } catch {
    return false
  }
  try {
    await check()
    return true
  } catch (error) {
    // It can begin to load its data, or go away, behind the ping.
    if (isStoreError(error)) return false
    throw error
  }
}

/** Raises it; a restore brings back the one of the backup. */
export async function raiseMinimumVersion(redis: RedisClient, to: string): Promise<void> {
  const minimum = await readMinimumVersion(redis)
  if (minimum === null || isOlderVersion(minimum, to))
    await redis.hset(REDIS_KEYS.requirements, MINIMUM_VERSION, to)
}

/** The name of the history of a store: a store that does not know all changes of the one before gets another one. */
export const newLineage = (): string => randomBytes(12).toString('hex')
