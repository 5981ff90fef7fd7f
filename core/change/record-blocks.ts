import { ACTIVITY_MAX_ENTRIES } from '../activity/activity-entry.ts'
import { INDEX_FORM } from '../activity/activity-index.ts'
import { BLOCK_CHARACTERS_MAX, BLOCK_ENTRIES_MAX, packBlock } from '../activity/pack-block.ts'
import { GivenUpError, UNMARKED, type WriteMark } from './log-writer.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'

/**
 * Appends entries of one organization, as JSON, to its activity log as blocks. No webhook receives such entries.
 * @returns false, and writes nothing, while no admin service that reads blocks has indexed the log, since edges are updated first,
 * and if one of these calls was cut
 */
export async function recordBlocks(
  redis: RedisClient,
  organization_id: string,
  texts: readonly string[],
  by: WriteMark = UNMARKED,
): Promise<boolean> {
  const args: (string | number | Buffer)[] = [ACTIVITY_MAX_ENTRIES, INDEX_FORM, by.mark]
  for (const some of portionsOf(texts)) {
    const { head, names, requests, ids, block } = packBlock(some)
    args.push(head, names, requests, ids, block)
  }
  const keys = [
    REDIS_KEYS.activity(organization_id),
    REDIS_KEYS.activityDigest(organization_id),
    REDIS_KEYS.activityBudget,
    by.key,
    REDIS_KEYS.decidedCalls(organization_id, '0'),
    REDIS_KEYS.decidedCalls(organization_id, '1'),
  ] as const
  const written = await runScript(redis, 'record-blocks', keys, args)
  if (written === 0 && texts.length > 0) throw new GivenUpError()
  return written !== -1
}

/** What becomes one block each. Only entries with long paths reach the bound of characters. */
function* portionsOf(texts: readonly string[]): Generator<readonly string[]> {
  let from = 0
  let characters = 0
  for (const [at, { length }] of texts.entries()) {
    const isFull = at - from === BLOCK_ENTRIES_MAX || characters + length > BLOCK_CHARACTERS_MAX
    if (isFull && at > from) {
      yield texts.slice(from, at)
      from = at
      characters = 0
    }
    characters += length
  }
  if (from < texts.length) yield texts.slice(from)
}
