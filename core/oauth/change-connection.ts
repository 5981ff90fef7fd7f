import type { ActivityEntry } from '../activity/activity-entry.ts'
import { connectionEvent } from '../activity/connection-event.ts'
import type { Connection } from '../catalogue/model.ts'
import { activityWrite } from '../change/activity-write.ts'
import { type Committed, commit, type Guard, type Write } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { changedText, readableRecord } from '../store/stored-record.ts'
import type { GrantPlace } from './grant-store.ts'

export interface ConnectionChange {
  /** What the connection has to be like. */
  readonly isWanted?: (connection: Connection) => boolean
  readonly members: Partial<Pick<Connection, 'status' | 'granted_by' | 'refreshed_at' | 'ended_by'>>
  readonly guards: readonly Guard[]
  readonly writes: readonly Write[]
  /** Further entries of the activity log. */
  readonly entries?: readonly ActivityEntry[]
  readonly by: Parameters<typeof connectionEvent>[2]
}

/** It is tried again when an operator changes the connection at the same moment. */
const TRIES_LIMIT = 20

/**
 * Changes the status of a connection, with its event if it was another, in one script.
 * @returns null if it is gone or is not as wanted, a newer version has stored it, or a guard of the change does not hold
 * @throws if the store is unavailable
 */
export async function changeConnection(
  { redis, lease_ms }: { readonly redis: RedisClient; readonly lease_ms: number },
  { organization_id, connection_id }: GrantPlace,
  { isWanted, members, guards, writes, entries = [], by }: ConnectionChange,
): Promise<Extract<Committed, { readonly kind: 'committed' }> | null> {
  const connections = REDIS_KEYS.connections(organization_id)
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const text = await redis.hget(connections, connection_id)
    const connection = text === null ? null : readableRecord<Connection>(text)
    if (text === null || connection === null || isWanted?.(connection) === false) return null
    const changed = changedText(text, members)
    const event = connectionEvent({ ...connection, ...members }, 'updated', by)
    const events = changed === text ? [] : [event]
    const committed = await commit(
      redis,
      {
        guards: [['HGET', connections, connection_id, text], ...guards],
        writes: [
          ['HSET', connections, connection_id, changed],
          ...writes,
          ...[...events, ...entries].map(activityWrite),
        ],
        events,
        targets: [{ what: 'integrations', organization_id }],
      },
      lease_ms,
      // A full store must not keep a token in use that has ended.
      'even_when_full',
    )
    if (committed.kind === 'committed') return committed
    if (committed.guard > 0) return null
  }
  return null
}
