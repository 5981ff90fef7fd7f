import type { RedisClient } from './run-script.ts'

/** Fields or names per command: the store is blocked during it. */
const PAGE = 200
/** Most names do not match. */
const NAMES_PAGE = 1_000

/**
 * The fields of a hash, in pages, so that a large hash is never in memory as a whole. A field may be returned more than once.
 */
export async function* scanHash(
  redis: RedisClient,
  key: string,
): AsyncGenerator<readonly [field: string, value: string]> {
  let cursor = '0'
  do {
    const [next, flat] = await redis.hscan(key, cursor, 'COUNT', PAGE)
    cursor = next
    for (let i = 0; i + 1 < flat.length; i += 2) yield [String(flat[i]), String(flat[i + 1])]
  } while (cursor !== '0')
}

/** The names of all keys that begin with a text, which must not contain wildcards. A name may be returned more than once. */
export async function* scanNames(redis: RedisClient, prefix: string): AsyncGenerator<string> {
  let cursor = '0'
  do {
    const [next, names] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', NAMES_PAGE)
    cursor = next
    yield* names
  } while (cursor !== '0')
}
