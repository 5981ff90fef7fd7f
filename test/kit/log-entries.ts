import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { entriesAfter } from '../../core/activity/entries-after.ts'
import { readLog } from '../../core/activity/read-log.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

const ROWS_MAX = 1_000

/** Every entry of the log in the store, from old to new. */
export async function logEntries(
  redis: RedisClient,
  organization_id: string,
): Promise<ActivityEntry[]> {
  const texts: string[] = []
  for (let after = '0-0'; ; ) {
    const { rows, has_more } = await readLog(redis, organization_id, after, ROWS_MAX)
    for (const { place, text } of entriesAfter(after, rows)) {
      after = place
      texts.push(text)
    }
    if (!has_more) return texts.map((text) => JSON.parse(text) as ActivityEntry)
  }
}
