import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import type { EdgeRecord } from './control-message.ts'
import { liveEdges } from './live-edges.ts'

export interface LiveEdge {
  readonly process_id: string
  readonly record: EdgeRecord
  /** Age of its last heartbeat, in ms, by the clock of Redis. */
  readonly beat_age_ms: number
}

/** The records of the edges whose last heartbeat is at most this old, in the order of process ids. */
export async function liveEdgeRecords(
  redis: RedisClient,
  max_age_ms: number,
): Promise<readonly LiveEdge[]> {
  const ages = [...(await liveEdges(redis, max_age_ms))].sort(([a], [b]) => (a < b ? -1 : 1))
  if (ages.length === 0) return []
  const texts = await redis.hmget(REDIS_KEYS.edges, ...ages.map(([process_id]) => process_id))
  return ages.flatMap(([process_id, beat_age_ms], i) => {
    const text = texts[i]
    return text == null ? [] : [{ process_id, record: JSON.parse(text) as EdgeRecord, beat_age_ms }]
  })
}
