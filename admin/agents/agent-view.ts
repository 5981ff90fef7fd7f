import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

interface AgentFacts {
  readonly last_seen_ms: number | null
  readonly key_count: number
  readonly scope_count: number
}

/** An agent as the API shows it. */
function agentView(agent: Agent, facts: AgentFacts): Record<string, unknown> {
  const { agent_id, agent_name, status, created_at, killed_at, kill_reason, metadata } = agent
  const { restore_gap, unlisted_hosts = null, labels = {} } = agent
  const { last_seen_ms, key_count, scope_count } = facts
  const last_seen_at = last_seen_ms === null ? null : new Date(last_seen_ms).toISOString()
  return {
    agent_id,
    agent_name,
    status,
    created_at,
    killed_at,
    kill_reason,
    last_seen_at,
    key_count,
    scope_count,
    metadata,
    unlisted_hosts,
    labels,
    ...(restore_gap === undefined ? {} : { restore_gap }),
  }
}

/** Several agents with the time each was last seen, and how many keys and scopes each has. */
export async function agentViews(
  redis: RedisClient,
  organization_id: string,
  agents: readonly Agent[],
): Promise<Record<string, unknown>[]> {
  if (agents.length === 0) return []
  const ids = agents.map(({ agent_id }) => agent_id)
  const [times, key_counts, scope_counts] = await Promise.all([
    redis.hmget(REDIS_KEYS.agentLastSeen(organization_id), ...ids),
    Promise.all(ids.map((id) => redis.zcard(REDIS_KEYS.apiKeyIndex(organization_id, id)))),
    Promise.all(ids.map((id) => redis.hlen(REDIS_KEYS.agentScopes(organization_id, id)))),
  ])
  return agents.map((agent, i) =>
    agentView(agent, {
      last_seen_ms: times[i] == null ? null : Number(times[i]),
      key_count: key_counts[i] ?? 0,
      scope_count: scope_counts[i] ?? 0,
    }),
  )
}
