import {
  ACTIVITY_FIELD,
  ACTIVITY_MAX_ENTRIES,
  type ActivityEntry,
} from '../activity/activity-entry.ts'
import type { Write } from './commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'

/** The write that appends an entry to the log of its organization, for the script that makes the change it reports. */
export const activityWrite = (entry: ActivityEntry): Write => [
  'XADD',
  REDIS_KEYS.activity(entry.organization_id),
  'MAXLEN',
  '~',
  ACTIVITY_MAX_ENTRIES,
  '*',
  ACTIVITY_FIELD,
  JSON.stringify(entry),
]
