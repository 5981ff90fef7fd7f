import { type Static, Type } from 'typebox'
import { type Agent, type Scope, SELECTED } from '../../core/catalogue/model.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { AgentView } from '../agents/agent-schemas.ts'
import { agentViews } from '../agents/agent-view.ts'
import { AgentParams, Id, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { notFound, type Outcome } from '../http/outcome.ts'
import { agentSelecting } from '../labels/selected.ts'
import { listPage } from '../resources/list-page.ts'
import { listRecords, readRecord } from '../resources/records.ts'
import { ScopeView } from './scope-schemas.ts'
import { scopeOf, scopeStore } from './scope-store.ts'
import { scopeView } from './scope-view.ts'

const ScopeParams = Strict({ scope_id: Id('scope_id') })
const Agents = Strict(PageQuery)
const Scopes = Strict({
  ...PageQuery,
  effective: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Also the scopes that select the agent, without those that have ended',
    }),
  ),
})
const tag = 'scopes'

/** Which agents a scope applies to, and which scopes apply to an agent. */
export const selectedRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/scopes/:scope_id/agents',
    role: 'viewer',
    tag,
    summary: 'List the agents that a scope applies to, newest first',
    params: ScopeParams,
    query: Agents,
    answers: { 200: ListOf(AgentView) },
    handle: agentsOf,
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/agents/:agent_id/scopes',
    role: 'viewer',
    tag,
    summary: 'List the scopes of an agent, newest first',
    params: AgentParams,
    query: Scopes,
    answers: { 200: ListOf(ScopeView) },
    handle: scopesOf,
  }),
]

async function agentsOf({
  context: { redis },
  actor: { organization_id: org },
  params,
  query,
}: AdminCall<Static<typeof ScopeParams>, Static<typeof Agents>>): Promise<Outcome> {
  const scope = await scopeOf(redis, org, params.scope_id)
  if (scope === null) return notFound()
  const { agent_id, agent_selector: selector } = scope
  const source = {
    redis,
    index: REDIS_KEYS.agentIndex(org),
    read: (ids: readonly string[]) => listRecords<Agent>(redis, REDIS_KEYS.agents(org), ids),
    ...(agent_id === SELECTED
      ? { matches: ({ labels }: Agent) => matchesSelector(selector, labels) }
      : { among: [agent_id] }),
  }
  return await listPage<Agent>(source, query, (agents) => agentViews(redis, org, agents))
}

async function scopesOf({
  context: { redis, now },
  actor: { organization_id: org },
  params: { agent_id },
  query,
}: AdminCall<Static<typeof AgentParams>, Static<typeof Scopes>>): Promise<Outcome> {
  const found = await readRecord<Agent>(redis, REDIS_KEYS.agents(org), agent_id)
  if (found === null) return notFound()
  const { labels } = found.record
  const own = await redis.hkeys(REDIS_KEYS.agentScopes(org, agent_id))
  const selecting = query.effective === true ? await agentSelecting(redis, org) : []
  const selected = selecting
    .filter(({ agent_selector }) => matchesSelector(agent_selector, labels))
    .map(({ scope_id }) => scope_id)
  const now_ms = now().getTime()
  const hasEnded = ({ expires_at = null }: Scope): boolean =>
    expires_at !== null && Date.parse(expires_at) <= now_ms
  const source = {
    redis,
    index: REDIS_KEYS.scopeIndex(org),
    among: [...own, ...selected],
    read: (ids: readonly string[]) => scopeStore.read(redis, org, ids),
    ...(query.effective === true ? { matches: (scope: Scope) => !hasEnded(scope) } : {}),
  }
  return await listPage<Scope>(source, query, (scopes) => scopes.map(scopeView))
}
