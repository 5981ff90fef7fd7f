import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** An agent as the API shows it. */
export function agentView(agent: Agent, last_seen_ms: number | null): Record<string, unknown> {
  const { agent_id, agent_name, status, created_at, killed_at, kill_reason, metadata } = agent
  const last_seen_at = last_seen_ms === null ? null : new Date(last_seen_ms).toISOString()
  return {
    agent_id,
    agent_name,
    status,
    created_at,
    killed_at,
    kill_reason,
    last_seen_at,
    metadata,
  }
}

/** Several agents with the time each was last seen. */
export async function agentViews(
  redis: RedisClient,
  organization_id: string,
  agents: readonly Agent[],
): Promise<Record<string, unknown>[]> {
  if (agents.length === 0) return []
  const ids = agents.map(({ agent_id }) => agent_id)
  const times = await redis.hmget(REDIS_KEYS.agentLastSeen(organization_id), ...ids)
  return agents.map((agent, i) => agentView(agent, times[i] == null ? null : Number(times[i])))
}
