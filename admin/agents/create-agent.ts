import type { Static } from 'typebox'
import { mintId } from '../../core/api-key.ts'
import type { Agent } from '../../core/model.ts'
import { EPOCH } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { newKey } from '../keys/new-key.ts'
import type { Call } from '../http/define-route.ts'
import { type Outcome, answer, conflict, invalid } from '../http/outcome.ts'
import { AGENTS_LIMIT, type NewAgent } from './agent-schemas.ts'
import { agentView } from './agent-view.ts'
import { checkMetadata } from './check-metadata.ts'

/** An agent with a key of its own, in one change. */
export async function createAgent(
  call: Call<unknown, unknown, Static<typeof NewAgent>>,
): Promise<Outcome> {
  const { context, actor, body } = call
  const { redis, now } = context
  const org = actor.organization_id
  const issues = checkMetadata(body.metadata ?? {})
  if (issues.length > 0) return invalid(issues)
  const agent_id = body.agent_id ?? mintId('agt')
  const [count, existing, tombstone] = await Promise.all([
    redis.zcard(REDIS_KEYS.agentIndex(org)),
    redis.hexists(REDIS_KEYS.agents(org), agent_id),
    redis.hexists(REDIS_KEYS.agentTombstones(org), agent_id),
  ])
  if (existing === 1) return conflict('agent_id_taken', 'There is an agent with this agent_id.')
  if (tombstone === 1)
    return conflict(
      'agent_id_deleted',
      'An agent with this agent_id was deleted. Its id is never given again; choose another.',
    )
  if (count >= AGENTS_LIMIT)
    return conflict('too_many_agents', `An organization has at most ${AGENTS_LIMIT} agents.`)
  const created_at = now().toISOString()
  const agent: Agent = {
    agent_id,
    agent_name: body.agent_name,
    organization_id: org,
    status: 'active',
    revision: 0,
    created_at,
    killed_at: null,
    kill_reason: null,
    metadata: body.metadata ?? {},
  }
  const made = newKey({ organization_id: org, agent_id, name: 'first key', created_at })
  const view = agentView(agent, null)
  return {
    kind: 'plan',
    guards: [
      ['HGET', REDIS_KEYS.agents(org), agent_id, false],
      ['HGET', REDIS_KEYS.agentTombstones(org), agent_id, false],
    ],
    writes: [
      ['HSET', REDIS_KEYS.agents(org), agent_id, JSON.stringify(agent)],
      ['ZADD', REDIS_KEYS.agentIndex(org), EPOCH, agent_id],
      ...made.writes,
    ],
    targets: [{ what: 'agent', organization_id: org, agent_id }, made.target],
    audit: {
      action: 'agent.create',
      target: agent_id,
      before: null,
      after: view,
      agent_id,
      agent_name: agent.agent_name,
      key_id: made.record.key_id,
    },
    answer: answer(201, { ...view, api_key: made.key, api_key_id: made.record.key_id }),
  }
}
