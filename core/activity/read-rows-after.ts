import { comparePlaces } from './log-place.ts'
import type { LogRow } from './log-row.ts'
import { LOG_READ_BYTES, type LogAnswer, type LogRead, readLog, readOf } from './read-log.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScriptBuffer } from '../redis/run-script.ts'

/** Rows that one read takes where the first block of a log is looked for. */
const LOOK_ROWS = 500

export interface RowsAfter extends LogRead {
  /** How many entries of the log are gone from the store; 0 where none of them can be after the place. */
  readonly trimmed: number
}

type Answer =
  | LogAnswer
  | readonly [
      ...LogAnswer,
      oldest: Buffer,
      rows_gone: number,
      first_block: Buffer,
      blocks: number,
      packed: number,
    ]

/** The next rows of a log that have entries after a place, and how many entries are gone, as they were at one moment. */
export async function readRowsAfter(
  redis: RedisClient,
  organization_id: string,
  after: string,
  rows_max: number,
): Promise<RowsAfter> {
  const keys = [
    REDIS_KEYS.activity(organization_id),
    REDIS_KEYS.activityDigest(organization_id),
  ] as const
  const args = [after, rows_max, LOG_READ_BYTES]
  const answer = (await runScriptBuffer(redis, 'read-rows-after', keys, args)) as Answer
  const read = readOf([answer[0], answer[1]])
  if (read.rows.length === 0 || answer.length === 2) return { ...read, trimmed: 0 }
  const [, , oldest_place, rows_gone, first, blocks, packed] = answer
  const oldest = String(oldest_place)
  const first_block = String(first)
  // Everything after the place is there.
  if (comparePlaces(oldest, after) <= 0) return { ...read, trimmed: 0 }
  if (first_block === '' || comparePlaces(oldest, first_block) <= 0)
    return { ...read, trimmed: rows_gone }
  const before = (await findBlock(redis, organization_id, read))?.before ?? { blocks, packed }
  // A block is one row of the stream, and as many entries as are packed in it.
  return { ...read, trimmed: rows_gone - before.blocks + before.packed }
}

/** The first block from these rows on; null where no other follows. */
async function findBlock(
  redis: RedisClient,
  organization_id: string,
  read: LogRead,
): Promise<LogRow | null> {
  for (let some = read; some.rows.length > 0; ) {
    const block = some.rows.find(({ isBlock }) => isBlock)
    if (block !== undefined) return block
    some = await readLog(redis, organization_id, some.rows.at(-1)?.place ?? '', LOOK_ROWS)
  }
  return null
}
