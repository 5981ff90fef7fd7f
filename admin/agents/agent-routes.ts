import { Type } from 'typebox'
import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Cascade } from '../http/common-schemas.ts'
import type { Route } from '../http/define-route.ts'
import { invalid } from '../http/outcome.ts'
import { defineResource } from '../resources/define-resource.ts'
import { storeIn } from '../resources/store-in.ts'
import {
  AGENT_DEFAULTS,
  AGENT_RESOURCE,
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
    summary: 'Change name and metadata with a JSON merge patch',
    methods: ['PATCH'],
    schema: EditableAgent,
    // Only a kill and a reactivation write `status`.
    read_only: ['agent_id', 'status', 'created_at', 'killed_at', 'kill_reason'],
    moving: ['last_seen_at'],
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
