import { comparePlaces } from './log-place.ts'
import { type LogReply, LogRow } from './log-row.ts'
import { readLog } from './read-log.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'

/** Rows that one read takes where the first block of a log is looked for. */
const LOOK_ROWS = 500

export interface RowsAfter {
  readonly rows: readonly LogRow[]
  /** How many entries of the log are gone from the store; 0 where none of them can be after the place. */
  readonly trimmed: number
}

/** The rows of a log that have entries after a place, and how many entries are gone, as they were at one moment. */
export async function readRowsAfter(
  redis: RedisClient,
  organization_id: string,
  after: string,
  rows_max: number,
): Promise<RowsAfter> {
  const key = REDIS_KEYS.activity(organization_id)
  const answers = await redis
    .multi()
    .call('XINFO', 'STREAM', key)
    .hmget(REDIS_KEYS.activityDigest(organization_id), 'first_block', 'blocks', 'packed')
    .xrangeBuffer(key, `(${after}`, '+', 'COUNT', rows_max)
    .exec()
  const [info, counts, read] = answers ?? []
  const rows = ((read?.[1] ?? []) as LogReply[]).map((row) => new LogRow(row))
  if (rows.length === 0 || !info || info[0] !== null) return { rows, trimmed: 0 }
  const stream = info[1] as readonly unknown[]
  const at = (name: string): unknown => stream[stream.indexOf(name) + 1]
  const [oldest = '0-0'] = (at('first-entry') ?? []) as readonly [string?]
  // Everything after the place is there.
  if (comparePlaces(oldest, after) <= 0) return { rows, trimmed: 0 }
  const trimmedRows = Number(at('entries-added')) - Number(at('length'))
  const [first_block, blocks, packed] = (counts?.[1] ?? []) as (string | null)[]
  if (!first_block || comparePlaces(oldest, first_block) <= 0) return { rows, trimmed: trimmedRows }
  const total = { blocks: Number(blocks), packed: Number(packed) }
  const before = (await findBlock(redis, organization_id, rows))?.before ?? total
  // A block is one row of the stream, and as many entries as are packed in it.
  return { rows, trimmed: trimmedRows - before.blocks + before.packed }
}

/** The first block from these rows on; null where no other follows. */
async function findBlock(
  redis: RedisClient,
  organization_id: string,
  rows: readonly LogRow[],
): Promise<LogRow | null> {
  for (let some = rows; some.length > 0; ) {
    const block = some.find(({ isBlock }) => isBlock)
    if (block !== undefined) return block
    some = await readLog(redis, organization_id, some.at(-1)?.place ?? '', LOOK_ROWS)
  }
  return null
}
