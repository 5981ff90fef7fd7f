import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { mergePatch } from '../changes/merge-patch.ts'
import { readRecord } from '../lists/records.ts'
import { checkInput } from '../http/check-input.ts'
import { checkReadOnly } from '../http/check-read-only.ts'
import type { Call } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { type Outcome, answer, invalid, notFound } from '../http/outcome.ts'
import { EditableAgent } from './agent-schemas.ts'
import { agentViews } from './agent-view.ts'
import { checkMetadata } from './check-metadata.ts'

/** Only a kill and a reactivation write `status` (threats.md 22). */
export const AGENT_READ_ONLY = [
  'agent_id',
  'status',
  'created_at',
  'killed_at',
  'kill_reason',
  'last_seen_at',
]

export async function updateAgent(call: Call<{ agent_id: string }>): Promise<Outcome> {
  const { context, actor, params, headers } = call
  const { redis } = context
  const org = actor.organization_id
  const patch = call.body as Record<string, unknown>
  const stored = await readRecord<Agent>(redis, REDIS_KEYS.agents(org), params.agent_id)
  if (stored === null) return notFound()
  const stale = checkPrecondition(headers, stored.text)
  if (stale !== null) return stale
  const { record: agent } = stored
  const [before = {}] = await agentViews(redis, org, [agent])
  const read_only = AGENT_READ_ONLY.filter((name) => name !== 'last_seen_at')
  const fixed = checkReadOnly(patch, before, read_only)
  if (fixed.length > 0) return invalid(fixed)
  const editable = { agent_name: agent.agent_name, metadata: agent.metadata }
  const changes = Object.fromEntries(
    Object.entries(patch).filter(([name]) => !AGENT_READ_ONLY.includes(name)),
  )
  const merged = mergePatch(editable, changes, { whole: [], nullable: [] })
  const checked = checkInput(EditableAgent, { metadata: {}, ...merged })
  if (!checked.ok) return invalid(checked.issues)
  const issues = checkMetadata(checked.value.metadata)
  if (issues.length > 0) return invalid(issues)
  const updated: Agent = { ...agent, ...checked.value }
  const after = { ...before, ...checked.value }
  return {
    kind: 'plan',
    guards: [['HGET', REDIS_KEYS.agents(org), agent.agent_id, stored.text]],
    writes: [['HSET', REDIS_KEYS.agents(org), agent.agent_id, JSON.stringify(updated)]],
    targets: [{ what: 'agent', organization_id: org, agent_id: agent.agent_id }],
    audit: {
      action: 'agent.update',
      target: agent.agent_id,
      before,
      after,
      agent_id: agent.agent_id,
      agent_name: updated.agent_name,
    },
    answer: answer(200, after),
  }
}
