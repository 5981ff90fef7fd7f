import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { LogRow } from './log-row.ts'

/** Rows of an organization's log that have entries after a position, from old to new. */
export async function readLog(
  redis: RedisClient,
  organization_id: string,
  after: string,
  rows_max: number,
): Promise<readonly LogRow[]> {
  const key = REDIS_KEYS.activity(organization_id)
  const rows = await redis.xrangeBuffer(key, `(${after}`, '+', 'COUNT', rows_max)
  return rows.map((row) => new LogRow(row))
}
