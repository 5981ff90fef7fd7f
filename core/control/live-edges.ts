import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'

/** The edges whose last heartbeat is at most this old, with its age in ms. */
export async function liveEdges(
  redis: RedisClient,
  max_age_ms: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = (await runScript(
    redis,
    'live-edges',
    [REDIS_KEYS.edgeBeats, REDIS_KEYS.beatClock],
    [max_age_ms],
  )) as (string | number)[]
  const ages = new Map<string, number>()
  for (let i = 0; i + 1 < rows.length; i += 2) ages.set(String(rows[i]), Number(rows[i + 1]))
  return ages
}
