import type { Static } from 'typebox'
import { mintId } from '../../core/keys/api-key.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { newKey } from '../keys/new-key.ts'
import { checkLabels } from '../labels/check-labels.ts'
import { agentSelecting, labelChange, planLabels } from '../labels/selected.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict, invalid } from '../http/outcome.ts'
import type { Made } from '../resources/resource.ts'
import type { NewAgent } from './agent-schemas.ts'
import { checkMetadata } from './check-metadata.ts'

/** Creates an agent and its first key in one change. */
export async function makeAgent(
  call: AdminCall<unknown, unknown, Static<typeof NewAgent>>,
  id = mintId('agt'),
): Promise<Made<Agent> | Refusal> {
  const { context, actor, body } = call
  const { redis, now } = context
  const org = actor.organization_id
  const { labels = {} } = body
  const issues = [...checkMetadata(body.metadata ?? {}), ...checkLabels(labels)]
  if (issues.length > 0) return invalid(issues)
  const agent_id = body.agent_id ?? id
  const [existing, tombstone] = await Promise.all([
    redis.hexists(REDIS_KEYS.agents(org), agent_id),
    redis.hexists(REDIS_KEYS.agentTombstones(org), agent_id),
  ])
  if (existing === 1)
    return conflict('agent_id_taken', 'An agent with this agent_id already exists.')
  if (tombstone === 1)
    return conflict(
      'agent_id_deleted',
      'An agent with this agent_id was deleted. Ids are never reused; choose another.',
    )
  const created_at = now().toISOString()
  const agent: Agent = {
    agent_id,
    agent_name: body.agent_name,
    organization_id: org,
    status: 'active',
    revision: 0,
    created_at,
    created_by: actor.email,
    killed_at: null,
    kill_reason: null,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    metadata: body.metadata ?? {},
    unlisted_hosts: body.unlisted_hosts ?? null,
  }
  const made = newKey({ organization_id: org, agent_id, name: 'first key', created_at })
  return {
    kind: 'made',
    record: agent,
    guards: [['HGET', REDIS_KEYS.agentTombstones(org), agent_id, false]],
    writes: [...made.writes, ...planLabels(org, agent_id, labels)],
    targets: [made.target],
    about: { key_id: made.record.key_id },
    effects: labelChange(await agentSelecting(redis, org), 'agent_selector', null, labels),
    // The keys of the agent are counted before this one is stored.
    shown_once: { api_key: made.key, api_key_id: made.record.key_id, key_count: 1 },
  }
}
