import { LogRow } from '../../core/activity/log-row.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** Of the first entry in the store; null if there is none. */
export async function oldestPlace(
  redis: RedisClient,
  organization_id: string,
): Promise<string | null> {
  const key = REDIS_KEYS.activity(organization_id)
  const [row] = await redis.xrangeBuffer(key, '-', '+', 'COUNT', 1)
  if (row === undefined) return null
  const { place, count } = new LogRow(row)
  const dash = place.indexOf('-') + 1
  return `${place.slice(0, dash)}${Number(place.slice(dash)) - count + 1}`
}
