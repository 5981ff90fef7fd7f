import { outboxKeys } from '../outbox/outbox-keys.ts'
import { isDelivered } from '../outbox/subscribable-events.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { ACTIVITY_MAX_ENTRIES, type ActivityEntry } from './activity-entry.ts'

/** Appends entries of one organization to its activity log, and their events to the outbox, in one script. */
export async function recordEntries(
  redis: RedisClient,
  organization_id: string,
  entries: readonly ActivityEntry[],
): Promise<void> {
  if (entries.length === 0) return
  // One Buffer: the client joins many string arguments far more slowly (12 µs of 140 µs a call were spent on it).
  const lines = entries.map(
    (entry) => `${isDelivered(entry) ? entry.event : ''}\t${JSON.stringify(entry)}\n`,
  )
  const keys = [REDIS_KEYS.activity(organization_id), ...outboxKeys(organization_id)]
  const batch = Buffer.from(lines.join(''), 'utf8')
  await runScript(redis, 'record', keys, [ACTIVITY_MAX_ENTRIES, organization_id, batch])
}
