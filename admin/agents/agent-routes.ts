import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Cascade } from '../http/common-schemas.ts'
import type { AdminCall, Route } from '../http/define-route.ts'
import { conflict, invalid, type Refusal } from '../http/outcome.ts'
import { checkLabels } from '../labels/check-labels.ts'
import { agentSelecting, labelChange, planLabels } from '../labels/selected.ts'
import type { Edited } from '../resources/resource.ts'
import { BULK_LIMIT } from '../resources/bulk-limit.ts'
import { defineResource } from '../resources/define-resource.ts'
import { storeIn } from '../resources/store-in.ts'
import {
  AGENT_DEFAULTS,
  AGENT_RESOURCE,
  AGENTS_LIMIT,
  AgentPatch,
  BULK_AGENTS,
  AgentView,
  CreatedAgent,
  EditableAgent,
  NewAgent,
} from './agent-schemas.ts'
import { agentViews } from './agent-view.ts'
import { checkMetadata } from './check-metadata.ts'
import { makeAgent } from './make-agent.ts'
import { removeAgent } from './remove-agent.ts'

export const agentRoutes: readonly Route[] = defineResource({
  ...AGENT_RESOURCE,
  tag: 'agents',
  view: AgentView,
  store: storeIn<Agent>(REDIS_KEYS.agents, REDIS_KEYS.agentIndex),
  show: ({ context, actor }, agents) => agentViews(context.redis, actor.organization_id, agents),
  about: ({ agent_id, agent_name }) => ({ agent_id, agent_name }),
  targets: ({ organization_id, agent_id }) => [{ what: 'agent', organization_id, agent_id }],
  create: {
    summary: 'Create an agent and its first key',
    body: NewAgent,
    answer: CreatedAgent,
    make: makeAgent,
    bulk: {
      ...BULK_AGENTS,
      summary: `Create up to ${BULK_LIMIT} agents, each with its first key: all of them, or none`,
    },
    check: async ({ context, actor }, agents) => {
      const count = await context.redis.zcard(REDIS_KEYS.agentIndex(actor.organization_id))
      return count + agents.length > AGENTS_LIMIT
        ? conflict('too_many_agents', `An organization has at most ${AGENTS_LIMIT} agents.`)
        : null
    },
  },
  list: {
    summary: 'List agents, newest first',
    compressed: true,
    query: {
      status: Type.Optional(Type.Enum(['active', 'killed'])),
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Substring of the name or the id; case-insensitive',
        }),
      ),
    },
    narrow: ({ query: { status, q } }) => {
      const part = q?.toLowerCase()
      if (status === undefined && part === undefined) return {}
      return {
        matches: (agent) =>
          (status === undefined || agent.status === status) &&
          (part === undefined ||
            agent.agent_name.toLowerCase().includes(part) ||
            agent.agent_id.toLowerCase().includes(part)),
      }
    },
  },
  read: { summary: 'Read an agent' },
  edit: {
    summary: 'Change name, metadata, labels and unlisted_hosts with a JSON merge patch',
    methods: ['PATCH'],
    schema: EditableAgent,
    body: AgentPatch,
    // Only a kill and a reactivation write `status`.
    read_only: ['agent_id', 'status', 'created_at', 'killed_at', 'kill_reason', 'restore_gap'],
    moving: ['last_seen_at', 'key_count', 'scope_count', 'scopes_gained', 'scopes_lost'],
    defaults: AGENT_DEFAULTS,
    apply: editAgent,
  },
  remove: {
    summary: 'Delete an agent and its keys. Its id is never reused',
    query: Cascade,
    plan: removeAgent,
  },
})

async function editAgent({
  call: { context, actor },
  record,
  value: { labels, ...value },
}: {
  readonly call: AdminCall
  readonly record: Agent
  readonly value: Static<typeof EditableAgent>
}): Promise<Edited<Agent> | Refusal> {
  const issues = [...checkMetadata(value.metadata), ...checkLabels(labels)]
  if (issues.length > 0) return invalid(issues)
  const { labels: before = {}, ...rest } = record
  const edited = { ...rest, ...value, ...(Object.keys(labels).length === 0 ? {} : { labels }) }
  if (isDeepStrictEqual(before, labels)) return { kind: 'edited', record: edited }
  const { organization_id: org } = actor
  const selecting = await agentSelecting(context.redis, org)
  return {
    kind: 'edited',
    record: edited,
    writes: planLabels(org, record.agent_id, labels),
    effects: labelChange(selecting, 'agent_selector', before, labels),
  }
}
