import type { AlertKind } from '../../core/alerts/alert.ts'
import type { Agent, Organization } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { endingOf } from '../keys/key-ends.ts'
import { readRecord } from '../resources/records.ts'

/** Alerts about a state that can be read. */
export const ALERTS_OF_STATE = [
  'webhook_failing',
  'agent_killed',
  'log_export_failing',
  'trace_export_failing',
  'unlisted_hosts',
  'key_expiring',
  'token_expiring',
] as const satisfies readonly AlertKind[]
export type AlertOfState = (typeof ALERTS_OF_STATE)[number]

/** Why what an alert is about needs nobody any more; null while it does. */
export async function stateOf(
  redis: RedisClient,
  organization_id: string,
  kind: AlertOfState,
  last: string,
  now: Date,
): Promise<string | null> {
  if (kind === 'log_export_failing') {
    const isFailing = (await redis.exists(REDIS_KEYS.logExportProblem)) === 1
    return isFailing ? null : 'The receiver accepts entries again, or the export was turned off.'
  }
  if (kind === 'trace_export_failing') {
    const isFailing = (await redis.exists(REDIS_KEYS.traceExportProblem)) === 1
    return isFailing ? null : 'The receiver accepts spans again, or the export was turned off.'
  }
  if (kind === 'key_expiring' || kind === 'token_expiring') {
    const { id } = JSON.parse(last) as { readonly id: string }
    const ending = await endingOf(redis, organization_id, id)
    if (ending === null) return 'It was revoked or deleted.'
    return Date.parse(ending.expires_at ?? '') > now.getTime() ? null : 'It has ended.'
  }
  const {
    webhook_id,
    agent_id,
    organization_id: about_id,
  } = JSON.parse(last) as Record<string, unknown>
  if (kind === 'webhook_failing') {
    const id = String(webhook_id)
    const [isThere, since] = await Promise.all([
      redis.hexists(REDIS_KEYS.webhooks(organization_id), id),
      redis.hmget(REDIS_KEYS.webhookState(id), 'failing_since_ms', 'refused_since_ms'),
    ])
    if (isThere === 0) return 'The webhook was deleted.'
    return since.every((ms) => ms === null) ? 'The webhook delivers again.' : null
  }
  if (kind === 'unlisted_hosts' && typeof about_id === 'string') {
    const found = await readRecord<Organization>(redis, REDIS_KEYS.organizations, about_id)
    if (found === null) return 'The organization was deleted.'
    return found.record.unlisted_hosts === 'allow' ? null : REFUSED_AGAIN
  }
  const agents = REDIS_KEYS.agents(organization_id)
  const agent = await readRecord<Agent>(redis, agents, String(agent_id))
  if (agent === null) return 'The agent was deleted.'
  if (kind === 'unlisted_hosts')
    return agent.record.unlisted_hosts === 'allow' ? null : REFUSED_AGAIN
  return agent.record.status === 'active' ? 'The agent was reactivated.' : null
}

const REFUSED_AGAIN = 'Hosts in no integration are refused again.'
