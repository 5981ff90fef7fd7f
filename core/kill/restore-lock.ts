import type { AdminAction } from '../activity/words-of-action.ts'
import { entryOfNoCall } from '../activity/entry-of-no-call.ts'
import { activityWrite } from '../change/activity-write.ts'
import { commit, type Guard } from '../change/commit.ts'
import { EVERYWHERE, type Lock } from '../catalogue/model.ts'
import { endOfLock } from '../decision/locks.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly now: () => Date
}

/**
 * Restores a lock in a store that has lost it, and records this in the activity log, which raises an alert. Only one of several edges
 * succeeds.
 */
export async function restoreLock(
  { redis, lease_ms, now }: Parts,
  lock: Lock,
  edge_id: string,
): Promise<'restored' | 'not_lost' | 'no_organization'> {
  const { organization_id, lock_id, created_in } = lock
  const owner = organization_id === EVERYWHERE ? created_in : organization_id
  const locks = REDIS_KEYS.locks(organization_id)
  const ends_ms = endOfLock(lock)
  const guards: readonly Guard[] = [
    ['HGET', REDIS_KEYS.organizations, owner, true],
    ['HGET', locks, lock_id, false],
    ['ZSCORE', REDIS_KEYS.lockTombstones(organization_id), lock_id, false],
  ]
  const entry = entryOfNoCall({
    event: 'admin_action',
    organization_id: owner,
    agent_id: null,
    agent_name: null,
    timestamp: now().toISOString(),
    actor: { source_ip: null, request_id: null, edge_id },
    data: {
      actor: 'system',
      action: 'lock.restored' satisfies AdminAction,
      target: lock_id,
      warning: 'The store had lost this lock; an edge restored it.',
      before: null,
      after: lock,
    },
  })
  const committed = await commit(
    redis,
    {
      guards,
      writes: [
        ['HSET', locks, lock_id, JSON.stringify(lock)],
        ['HSET', REDIS_KEYS.lockPlaces, lock_id, organization_id],
        ...(Number.isFinite(ends_ms)
          ? [['ZADD', REDIS_KEYS.lockEnds, ends_ms, lock_id] as const]
          : []),
        activityWrite(entry),
      ],
      targets: [{ what: 'lock', organization_id, lock }],
    },
    lease_ms + LEASE_MARGIN_MS,
    'even_when_full',
  )
  if (committed.kind === 'committed') return 'restored'
  return committed.guard === 0 ? 'no_organization' : 'not_lost'
}
