import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readRecord } from '../resources/records.ts'

/** Why what an alert is about needs nobody any more; null while it does. */
export async function stateOf(
  redis: RedisClient,
  organization_id: string,
  kind: 'webhook_failing' | 'agent_killed' | 'log_export_failing' | 'trace_export_failing',
  last: string,
): Promise<string | null> {
  if (kind === 'log_export_failing') {
    const isFailing = (await redis.exists(REDIS_KEYS.logExportProblem)) === 1
    return isFailing ? null : 'The receiver accepts entries again, or the export was turned off.'
  }
  if (kind === 'trace_export_failing') {
    const isFailing = (await redis.exists(REDIS_KEYS.traceExportProblem)) === 1
    return isFailing ? null : 'The receiver accepts spans again, or the export was turned off.'
  }
  const { webhook_id, agent_id } = JSON.parse(last) as Record<string, unknown>
  if (kind === 'webhook_failing') {
    const id = String(webhook_id)
    const [isThere, since] = await Promise.all([
      redis.hexists(REDIS_KEYS.webhooks(organization_id), id),
      redis.hget(REDIS_KEYS.webhookState(id), 'failing_since_ms'),
    ])
    if (isThere === 0) return 'The webhook was deleted.'
    return since === null ? 'The webhook delivers again.' : null
  }
  const agents = REDIS_KEYS.agents(organization_id)
  const agent = await readRecord<Agent>(redis, agents, String(agent_id))
  if (agent === null) return 'The agent was deleted.'
  return agent.record.status === 'active' ? 'The agent was reactivated.' : null
}
