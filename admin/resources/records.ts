import type { RedisClient } from '../../core/redis/run-script.ts'
import { parseRecord, readableRecord } from '../../core/store/stored-record.ts'

/** A record with its text, which a guard compares when a change is written. */
export interface Stored<T> {
  readonly text: string
  readonly record: T
}

export async function readRecord<T>(
  redis: RedisClient,
  hash: string,
  id: string,
): Promise<Stored<T> | null> {
  const text = await redis.hget(hash, id)
  return text === null ? null : { text, record: parseRecord<T>(text) }
}

/** A record in the format of a newer version, in lists. */
export const NEWER = 'newer'
/** Of a list: null for a missing record. */
export type Listed<T> = T | null | typeof NEWER

export const listedRecord = <T>(text: string | null): Listed<T> =>
  text === null ? null : (readableRecord<T>(text) ?? NEWER)

/** In the order of the ids. */
export async function listRecords<T>(
  redis: RedisClient,
  hash: string,
  ids: readonly string[],
): Promise<Listed<T>[]> {
  if (ids.length === 0) return []
  return (await redis.hmget(hash, ...ids)).map((text) => listedRecord<T>(text))
}

/** In the order of the ids; null for a missing record. */
export async function readRecords<T>(
  redis: RedisClient,
  hash: string,
  ids: readonly string[],
): Promise<(T | null)[]> {
  if (ids.length === 0) return []
  const texts = await redis.hmget(hash, ...ids)
  return texts.map((text) => (text === null ? null : parseRecord<T>(text)))
}
