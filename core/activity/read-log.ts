import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScriptBuffer } from '../redis/run-script.ts'
import { type LogReply, LogRow } from './log-row.ts'

/** One read ends after a row with which it has so many bytes: 8,000 calls, or hundreds whose paths are long and random. */
export const LOG_READ_BYTES = 1 << 20

export interface LogRead {
  readonly rows: readonly LogRow[]
  /** Whether the log may have more rows after these. */
  readonly has_more: boolean
}

/** The next rows of an organization's log that have entries after a position, from old to new, bounded in number and in bytes. */
export async function readLog(
  redis: RedisClient,
  organization_id: string,
  after: string,
  rows_max: number,
): Promise<LogRead> {
  const keys = [REDIS_KEYS.activity(organization_id)] as const
  const answer = await runScriptBuffer(redis, 'read-log', keys, [after, rows_max, LOG_READ_BYTES])
  return readOf(answer as LogAnswer)
}

/** As the scripts return it. */
export type LogAnswer = readonly [has_more: number, rows: readonly LogReply[]]

export const readOf = ([has_more, rows]: LogAnswer): LogRead => ({
  rows: rows.map((row) => new LogRow(row)),
  has_more: has_more === 1,
})
