import type { ApiKey } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type PageQuery as Page, listPage } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import { AgentParams, Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { type Call, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer, notFound } from '../http/outcome.ts'
import { createAgentKey, createOrganizationKey } from './create-key.ts'
import {
  AgentKeyParams,
  CreatedKey,
  KeyParams,
  KeyView,
  NewAgentKey,
  NewOrganizationKey,
} from './key-schemas.ts'
import { keyViews } from './key-view.ts'
import { ORGANIZATION_OWNER } from './new-key.ts'
import { revokeKey } from './revoke-key.ts'

const tag = 'keys'
const query = Strict(PageQuery)

const listKeys = ({ context, actor, query: page }: Call<unknown, Page>, owner: string) =>
  listPage<ApiKey>(
    {
      redis: context.redis,
      index: REDIS_KEYS.apiKeyIndex(actor.organization_id, owner),
      read: (ids) => readRecords(context.redis, REDIS_KEYS.apiKeys(actor.organization_id), ids),
    },
    page,
    (keys) => keyViews(context.redis, actor.organization_id, keys),
  )

async function readKey(
  { context, actor, params }: Call<{ key_id: string }>,
  agent_id: string | null,
): Promise<Outcome> {
  const keys = REDIS_KEYS.apiKeys(actor.organization_id)
  const stored = await readRecord<ApiKey>(context.redis, keys, params.key_id)
  if (stored === null || stored.record.agent_id !== agent_id) return notFound()
  const [view] = await keyViews(context.redis, actor.organization_id, [stored.record])
  return answer(200, view)
}

export const keyRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/agents/:agent_id/keys',
    role: 'admin',
    tag,
    summary: 'Make a further key of an agent',
    params: AgentParams,
    body: NewAgentKey,
    answers: { 201: CreatedKey },
    handle: createAgentKey,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id/keys',
    role: 'viewer',
    tag,
    summary: 'List the keys of an agent, newest first',
    params: AgentParams,
    query,
    answers: { 200: ListOf(KeyView) },
    handle: async (call) => {
      const agents = REDIS_KEYS.agents(call.actor.organization_id)
      const exists = await call.context.redis.hexists(agents, call.params.agent_id)
      return exists === 1 ? await listKeys(call, call.params.agent_id) : notFound()
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id/keys/:key_id',
    role: 'viewer',
    tag,
    summary: 'Read a key of an agent',
    params: AgentKeyParams,
    answers: { 200: KeyView },
    handle: (call) => readKey(call, call.params.agent_id),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/admin/agents/:agent_id/keys/:key_id',
    role: 'admin',
    tag,
    summary: 'Revoke a key of an agent',
    params: AgentKeyParams,
    answers: { 204: Empty },
    handle: (call) => revokeKey(call, call.params.agent_id),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/keys',
    role: 'admin',
    tag,
    summary: 'Make a key of the organization',
    body: NewOrganizationKey,
    answers: { 201: CreatedKey },
    handle: createOrganizationKey,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/keys',
    role: 'viewer',
    tag,
    summary: 'List the keys of the organization, newest first',
    query,
    answers: { 200: ListOf(KeyView) },
    handle: (call) => listKeys(call, ORGANIZATION_OWNER),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/keys/:key_id',
    role: 'viewer',
    tag,
    summary: 'Read a key of the organization',
    params: KeyParams,
    answers: { 200: KeyView },
    handle: (call) => readKey(call, null),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/admin/keys/:key_id',
    role: 'admin',
    tag,
    summary: 'Revoke a key of the organization',
    params: KeyParams,
    answers: { 204: Empty },
    handle: (call) => revokeKey(call, null),
  }),
]
