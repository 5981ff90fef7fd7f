import type { Lock } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { groupPairs } from './group-pairs.ts'
import type { RestrictionBoard } from './restriction-board.ts'

const LOCKS_PER_READ = 100

/**
 * Compares known locks with the store. Each is confirmed, found to have been lifted, or found to be lost there.
 * @throws (rejects) if the store cannot be read
 */
export async function verifyLocks(
  { killBoard, commands }: { readonly killBoard: RestrictionBoard; readonly commands: RedisClient },
  pairs: readonly (readonly [organization_id: string, lock_id: string])[],
): Promise<void> {
  for (const [organization_id, ids] of groupPairs(pairs, LOCKS_PER_READ)) {
    const since = killBoard.lockMoment()
    const texts = await commands.hmget(REDIS_KEYS.locks(organization_id), ...ids)
    // Read after the locks: one that was lifted in between is here.
    const lifted = await commands.zmscore(REDIS_KEYS.lockTombstones(organization_id), ...ids)
    for (const [at, lock_id] of ids.entries()) {
      const text = texts[at] ?? null
      if (lifted[at] != null) killBoard.learnLock(organization_id, lock_id, 'lifted', since)
      else if (text === null) killBoard.learnNoLock(organization_id, lock_id, since)
      else killBoard.learnLock(organization_id, lock_id, JSON.parse(text) as Lock, since)
    }
  }
}
