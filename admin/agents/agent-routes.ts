import { Type } from 'typebox'
import type { Agent } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { listPage } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import { AgentParams, Cascade, Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { answer, notFound } from '../http/outcome.ts'
import { patchOf } from '../http/patch-of.ts'
import { AgentView, CreatedAgent, EditableAgent, NewAgent } from './agent-schemas.ts'
import { agentViews } from './agent-view.ts'
import { createAgent } from './create-agent.ts'
import { deleteAgent } from './delete-agent.ts'
import { AGENT_READ_ONLY, updateAgent } from './update-agent.ts'

const AgentQuery = Strict({
  status: Type.Optional(Type.Enum(['active', 'killed'])),
  q: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the name or the id, in any case' }),
  ),
  ...PageQuery,
})

const tag = 'agents'

export const agentRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/agents',
    role: 'admin',
    tag,
    summary: 'Create an agent with a key of its own',
    body: NewAgent,
    answers: { 201: CreatedAgent },
    handle: createAgent,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/agents',
    role: 'viewer',
    tag,
    summary: 'List agents, newest first',
    query: AgentQuery,
    answers: { 200: ListOf(AgentView) },
    handle: async ({ context: { redis }, actor: { organization_id }, query }) => {
      const part = query.q?.toLowerCase()
      const matches = (agent: Agent): boolean =>
        (query.status === undefined || agent.status === query.status) &&
        (part === undefined ||
          agent.agent_name.toLowerCase().includes(part) ||
          agent.agent_id.toLowerCase().includes(part))
      const isFiltered = query.status !== undefined || part !== undefined
      return await listPage<Agent>(
        {
          redis,
          index: REDIS_KEYS.agentIndex(organization_id),
          read: (ids) => readRecords(redis, REDIS_KEYS.agents(organization_id), ids),
          ...(isFiltered ? { matches } : {}),
        },
        query,
        (agents) => agentViews(redis, organization_id, agents),
      )
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id',
    role: 'viewer',
    tag,
    summary: 'Read an agent',
    params: AgentParams,
    answers: { 200: AgentView },
    handle: async ({ context: { redis }, actor: { organization_id }, params }) => {
      const agents = REDIS_KEYS.agents(organization_id)
      const stored = await readRecord<Agent>(redis, agents, params.agent_id)
      if (stored === null) return notFound()
      const [view] = await agentViews(redis, organization_id, [stored.record])
      return answer(200, view, { etag: entityTag(stored.text) })
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/admin/agents/:agent_id',
    role: 'admin',
    tag,
    summary: 'Change name and metadata by a JSON merge patch',
    params: AgentParams,
    body: patchOf(EditableAgent, AGENT_READ_ONLY, []),
    answers: { 200: AgentView },
    handle: updateAgent,
  }),
  defineRoute({
    method: 'DELETE',
    path: '/admin/agents/:agent_id',
    role: 'admin',
    tag,
    summary: 'Delete an agent with its keys; its id is never given again',
    params: AgentParams,
    query: Cascade,
    answers: { 204: Empty },
    handle: deleteAgent,
  }),
]
