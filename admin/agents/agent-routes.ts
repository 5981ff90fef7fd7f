import { Type } from 'typebox'
import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Cascade } from '../http/common-schemas.ts'
import type { Route } from '../http/define-route.ts'
import { conflict, invalid } from '../http/outcome.ts'
import { BULK_LIMIT } from '../resources/bulk-limit.ts'
import { defineResource } from '../resources/define-resource.ts'
import { storeIn } from '../resources/store-in.ts'
import {
  AGENT_DEFAULTS,
  AGENT_RESOURCE,
  AGENTS_LIMIT,
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
    summary: 'Change name, metadata and unlisted_hosts with a JSON merge patch',
    methods: ['PATCH'],
    schema: EditableAgent,
    // Only a kill and a reactivation write `status`.
    read_only: ['agent_id', 'status', 'created_at', 'killed_at', 'kill_reason', 'restore_gap'],
    moving: ['last_seen_at', 'key_count', 'scope_count'],
    defaults: AGENT_DEFAULTS,
    apply: ({ record, value }) => {
      const issues = checkMetadata(value.metadata)
      if (issues.length > 0) return invalid(issues)
      return { kind: 'edited', record: { ...record, ...value } }
    },
  },
  remove: {
    summary: 'Delete an agent and its keys. Its id is never reused',
    query: Cascade,
    plan: removeAgent,
  },
})
