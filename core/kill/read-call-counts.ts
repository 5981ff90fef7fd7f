import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'

const HOUR_MINUTES = 60

/** The path of an agent's last call and its number of calls in the last hour, as recorded by the edges. */
export async function readCallCounts(
  redis: RedisClient,
  organization_id: string,
  agent_id: string,
  now_ms: number,
): Promise<{ readonly last_request: string | null; readonly requests_last_hour: number }> {
  const [last_request, byMinute] = await Promise.all([
    redis.hget(REDIS_KEYS.agentLastPath(organization_id), agent_id),
    redis.hgetall(REDIS_KEYS.agentCalls(organization_id, agent_id)),
  ])
  const first = Math.floor(now_ms / 60_000) - HOUR_MINUTES
  let requests_last_hour = 0
  for (const [minute, count] of Object.entries(byMinute))
    if (Number(minute) > first) requests_last_hour += Number(count)
  return { last_request, requests_last_hour }
}
