import type { EdgeRecord } from '../../core/control/control-message.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import {
  type ApiKey,
  type Integration,
  type Labels,
  type LockTarget,
  type Scope,
  SELECTED,
  type Selector,
} from '../../core/catalogue/model.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import type { AdminCall } from '../http/define-route.ts'
import { answer, invalid, notFound, type Outcome } from '../http/outcome.ts'
import { agentSelecting, countSelected, integrationSelecting } from '../labels/selected.ts'
import { type EdgeLoad, loadOf, wholeLoad } from './edge-load.ts'
import { isDeploymentAdmin } from '../access/sign-in.ts'
import { readLockOrder } from './read-lock-order.ts'

/** What a lock would concern; nothing is locked. */
export async function previewLock(call: AdminCall): Promise<Outcome> {
  const { context, actor, body } = call
  const { redis, settings, now } = context
  const wishes = readLockOrder(body as string, now().getTime())
  if (!('target' in wishes)) return invalid(wishes)
  const { target, ignored } = wishes
  const isOperating = isDeploymentAdmin(actor, settings.organizationId)
  const records = await liveEdgeRecords(redis, settings.killLease_ms)
  const edges = records.map(({ record }) => record)
  const found = await agentsOf(redis, actor.organization_id, target, { isOperating, edges })
  if (found === null) return notFound()
  return answer(200, {
    in_flight: null,
    tunnels: null,
    ...found,
    edges: edges.length,
    ignored: [...ignored],
  })
}

/** How many agents a lock concerns, and what is in flight where that is known. */
type Concerned = { readonly agents: number } & Partial<EdgeLoad>

/** Null if the target does not exist, or may not be locked. */
async function agentsOf(
  redis: RedisClient,
  org: string,
  target: LockTarget,
  { isOperating, edges }: { readonly isOperating: boolean; readonly edges: readonly EdgeRecord[] },
): Promise<Concerned | null> {
  if ('everything' in target) {
    if (!isOperating) return null
    const organizations = await redis.hkeys(REDIS_KEYS.organizations)
    const counts = await Promise.all(organizations.map((id) => redis.hlen(REDIS_KEYS.agents(id))))
    return { agents: counts.reduce((sum, count) => sum + count, 0), ...wholeLoad(edges) }
  }
  if ('organization_id' in target) {
    const { organization_id: id } = target
    if (id !== org && !isOperating) return null
    if ((await redis.hexists(REDIS_KEYS.organizations, id)) === 0) return null
    const load = loadOf(edges, (name) => name.startsWith(`${id} `), false)
    return { agents: await redis.hlen(REDIS_KEYS.agents(id)), ...load }
  }
  if ('agent_selector' in target) {
    const { agent_selector } = target
    const agents = await countSelected(redis, org, [agent_selector])
    return { agents, ...(await loadOfSelected(redis, org, agent_selector, edges)) }
  }
  if ('agent_id' in target) {
    const name = `${org} ${target.agent_id}`
    const isKnown = (await redis.hexists(REDIS_KEYS.agents(org), target.agent_id)) === 1
    return isKnown ? { agents: 1, ...loadOf(edges, (one) => one === name, true) } : null
  }
  if ('integration_id' in target) return await agentsOfIntegration(redis, org, target)
  if ('scope_id' in target) {
    const owner = await redis.hget(REDIS_KEYS.scopeOwners(org), target.scope_id)
    const text = owner && (await redis.hget(REDIS_KEYS.agentScopes(org, owner), target.scope_id))
    const scope = text ? readableRecord<Scope>(text) : null
    return scope === null ? null : await agentsOfScopes(redis, org, [scope])
  }
  const text = await redis.hget(REDIS_KEYS.apiKeys(org), target.key_id)
  const key = text === null ? null : readableRecord<ApiKey>(text)
  if (key === null) return null
  if (key.agent_id !== null) return { agents: 1 }
  return { agents: key.agent_ids?.length ?? (await redis.hlen(REDIS_KEYS.agents(org))) }
}

/** Those with a scope that names the integration or selects it by its labels. */
async function agentsOfIntegration(
  redis: RedisClient,
  org: string,
  { integration_id: id }: { readonly integration_id: string },
): Promise<Concerned | null> {
  const text = await redis.hget(REDIS_KEYS.integrations(org), id)
  if (text === null) return null
  const [owners, selectingAgents, selectingIt] = await Promise.all([
    redis.hgetall(REDIS_KEYS.integrationScopes(org, id)),
    agentSelecting(redis, org),
    integrationSelecting(redis, org),
  ])
  const { labels } = JSON.parse(text) as Integration
  return await agentsOfScopes(
    redis,
    org,
    [
      ...selectingAgents.filter(({ scope_id }) => scope_id in owners),
      ...selectingIt.filter((scope) => matchesSelector(scope.integration_selector, labels)),
    ],
    Object.values(owners),
  )
}

async function agentsOfScopes(
  redis: RedisClient,
  org: string,
  scopes: readonly Scope[],
  own: readonly string[] = [],
): Promise<Concerned> {
  const selectors = scopes.flatMap(({ agent_selector }) => agent_selector ?? [])
  const named = [...own, ...scopes.map(({ agent_id }) => agent_id)].filter((id) => id !== SELECTED)
  return { agents: await countSelected(redis, org, selectors, named) }
}

async function loadOfSelected(
  redis: RedisClient,
  org: string,
  selector: Selector,
  edges: readonly EdgeRecord[],
): Promise<EdgeLoad> {
  const prefix = `${org} `
  const names = new Set(edges.flatMap(({ busiest }) => Object.keys(busiest?.calls ?? {})))
  const own = [...names].filter((name) => name.startsWith(prefix))
  const ids = own.map((name) => name.slice(prefix.length))
  const texts = ids.length === 0 ? [] : await redis.hmget(REDIS_KEYS.agentLabels(org), ...ids)
  const selected = own.filter((_, i) => {
    const text = texts[i] ?? null
    return matchesSelector(selector, text === null ? {} : (JSON.parse(text) as Labels))
  })
  return loadOf(edges, (name) => selected.includes(name), false)
}
