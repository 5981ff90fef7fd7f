import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { entriesAfter } from '../../core/activity/entries-after.ts'
import { readLog } from '../../core/activity/read-log.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

const ROWS_MAX = 100_000

/** Every entry of the log in the store, from old to new. */
export async function logEntries(
  redis: RedisClient,
  organization_id: string,
): Promise<ActivityEntry[]> {
  const rows = await readLog(redis, organization_id, '0-0', ROWS_MAX)
  return [...entriesAfter('0-0', rows)].map(({ text }) => JSON.parse(text) as ActivityEntry)
}
