import type { RedisClient } from '../../core/redis/run-script.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

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
