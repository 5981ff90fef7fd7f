import { entryOfNoCall } from '../../core/activity/entry-of-no-call.ts'
import { EVERYWHERE, type Lock } from '../../core/catalogue/model.ts'
import { lockData } from '../../core/kill/kill-entries.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Actor } from '../context/admin-context.ts'
import { NO_CONTENT, type Plan } from '../http/outcome.ts'

/** Lifted locks that are remembered: an edge that was away for longer restores one. */
const TOMBSTONES_MAX = 10_000

/** The end of a lock that is as it was read. */
export function planLift(
  {
    lock,
    text,
    agent_name,
    reason,
  }: {
    readonly lock: Lock
    readonly text: string
    /** Of the agent that it names. */
    readonly agent_name: string | null
    readonly reason: string | null
  },
  {
    actor,
    request_id,
    at,
  }: { readonly actor: Actor; readonly request_id: string; readonly at: Date },
): Plan {
  const { organization_id, lock_id, target } = lock
  const logged_in = organization_id === EVERYWHERE ? actor.organization_id : organization_id
  const isOwn = logged_in === actor.organization_id
  const agent_id = 'agent_id' in target ? target.agent_id : null
  const tombstones = REDIS_KEYS.lockTombstones(organization_id)
  const event = entryOfNoCall({
    event: 'unlocked',
    organization_id: logged_in,
    agent_id,
    agent_name,
    timestamp: at.toISOString(),
    actor: { source_ip: isOwn ? actor.source_ip : null, request_id, edge_id: null },
    data: {
      ...lockData(lock, logged_in),
      triggered_by: isOwn ? actor.email : null,
      reason: isOwn ? reason : null,
    },
  })
  return {
    kind: 'plan',
    guards: [['HGET', REDIS_KEYS.locks(organization_id), lock_id, text]],
    writes: [
      ['HDEL', REDIS_KEYS.locks(organization_id), lock_id],
      ['HDEL', REDIS_KEYS.lockReceipts(organization_id), lock_id],
      ['HDEL', REDIS_KEYS.lockPlaces, lock_id],
      ['ZREM', REDIS_KEYS.lockEnds, lock_id],
      ['ZADD', tombstones, at.getTime(), lock_id],
      ['ZREMRANGEBYRANK', tombstones, 0, -TOMBSTONES_MAX - 1],
    ],
    even_when_full: true,
    events: [event],
    targets: [{ what: 'unlock', organization_id, lock_id }],
    audits: [
      {
        action: 'lock.delete',
        target: lock_id,
        before: { ...lock, reason },
        after: null,
        agent_id,
      },
    ],
    answer: NO_CONTENT,
  }
}
