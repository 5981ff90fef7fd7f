import { restoreLock } from '../../core/kill/restore-lock.ts'
import type { Lock } from '../../core/catalogue/model.ts'
import { endOfLock } from '../../core/decision/locks.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { insist } from './make-restorer.ts'

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly edge_id: string
  readonly now: () => Date
  /** By the clock of the store. */
  readonly nowMs: () => number
  /** It is not to be restored: it was over, or its organization was deleted. */
  readonly forget: (lock: Lock) => void
  readonly log: { warn(data: object, message: string): void }
}

/** Puts a lock back that the store has lost, with one write per lock at a time. Until then it is in force on this edge. */
export function makeLockRestorer(parts: Parts): (lost: Lock) => void {
  const underWay = new Set<string>()
  return (lock) => {
    const { organization_id, lock_id } = lock
    if (endOfLock(lock) <= parts.nowMs()) return parts.forget(lock)
    if (underWay.has(lock_id)) return
    underWay.add(lock_id)
    const facts = { organization_id, lock_id }
    const restore = async (): Promise<'done'> => {
      const outcome = await restoreLock(parts, lock, parts.edge_id)
      if (outcome === 'restored')
        parts.log.warn(facts, 'the store had lost a lock; this edge restored it')
      if (outcome === 'no_organization') parts.forget(lock)
      return 'done'
    }
    void insist(restore, (error) =>
      parts.log.warn(
        { ...facts, error: String(error) },
        'the store has lost a lock and restoring it failed; this edge keeps it in force',
      ),
    ).finally(() => underWay.delete(lock_id))
  }
}
