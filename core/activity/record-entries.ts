import { outboxKeys } from '../outbox/outbox-keys.ts'
import { isSubscribable } from '../outbox/subscribable-events.ts'
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
  const texts = entries.flatMap((entry) => [
    isSubscribable(entry.event) ? entry.event : '',
    JSON.stringify(entry),
  ])
  const keys = [REDIS_KEYS.activity(organization_id), ...outboxKeys(organization_id)]
  await runScript(redis, 'record', keys, [ACTIVITY_MAX_ENTRIES, organization_id, ...texts])
}
