import type { EdgeRecord } from '../../core/control/control-message.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import type { ApiKey, LockTarget, Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import type { AdminCall } from '../http/define-route.ts'
import { answer, invalid, notFound, type Outcome } from '../http/outcome.ts'
import { countSelected } from '../labels/selected.ts'
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
  const found = await agentsOf(redis, actor.organization_id, target, isOperating)
  if (found === null) return notFound()
  const records = await liveEdgeRecords(redis, settings.killLease_ms)
  const loads = records.map(({ record }) => loadOn(record, found.prefix))
  return answer(200, {
    agents: found.agents,
    in_flight: sumOf(loads, 'calls'),
    tunnels: sumOf(loads, 'tunnels'),
    edges: records.length,
    ignored: [...ignored],
  })
}

interface Concerned {
  readonly agents: number
  /** Of the names of the agents in heartbeats; null if no such prefix stands for them. */
  readonly prefix: string | null
}

/** Null if the target does not exist, or may not be locked. */
async function agentsOf(
  redis: RedisClient,
  org: string,
  target: LockTarget,
  isOperating: boolean,
): Promise<Concerned | null> {
  if ('everything' in target) {
    if (!isOperating) return null
    const organizations = await redis.hkeys(REDIS_KEYS.organizations)
    const counts = await Promise.all(organizations.map((id) => redis.hlen(REDIS_KEYS.agents(id))))
    return { agents: counts.reduce((sum, count) => sum + count, 0), prefix: '' }
  }
  if ('organization_id' in target) {
    const { organization_id: id } = target
    if (id !== org && !isOperating) return null
    if ((await redis.hexists(REDIS_KEYS.organizations, id)) === 0) return null
    return { agents: await redis.hlen(REDIS_KEYS.agents(id)), prefix: `${id} ` }
  }
  if ('agent_selector' in target)
    return { agents: await countSelected(redis, org, target.agent_selector), prefix: null }
  if ('agent_id' in target) return await oneAgent(redis, org, target.agent_id)
  if ('integration_id' in target) {
    const { integration_id: id } = target
    if ((await redis.hexists(REDIS_KEYS.integrations(org), id)) === 0) return null
    const owners = await redis.hvals(REDIS_KEYS.integrationScopes(org, id))
    return { agents: new Set(owners).size, prefix: null }
  }
  if ('scope_id' in target) {
    const owner = await redis.hget(REDIS_KEYS.scopeOwners(org), target.scope_id)
    const text = owner && (await redis.hget(REDIS_KEYS.agentScopes(org, owner), target.scope_id))
    const scope = text ? readableRecord<Scope>(text) : null
    if (scope === null) return null
    const selector = scope.agent_selector ?? null
    return {
      agents: selector === null ? 1 : await countSelected(redis, org, selector),
      prefix: null,
    }
  }
  const text = await redis.hget(REDIS_KEYS.apiKeys(org), target.key_id)
  const key = text === null ? null : readableRecord<ApiKey>(text)
  if (key === null) return null
  if (key.agent_id !== null) return { agents: 1, prefix: null }
  const agents = key.agent_ids?.length ?? (await redis.hlen(REDIS_KEYS.agents(org)))
  return { agents, prefix: null }
}

const oneAgent = async (redis: RedisClient, org: string, id: string): Promise<Concerned | null> =>
  (await redis.hexists(REDIS_KEYS.agents(org), id)) === 0
    ? null
    : { agents: 1, prefix: `${org} ${id}` }

interface Load {
  readonly calls: number
  readonly tunnels: number
}

/** Null if the edge does not say. */
function loadOn(
  { in_flight, tunnels = 0, busiest }: EdgeRecord,
  prefix: string | null,
): Load | null {
  if (in_flight + tunnels === 0 || prefix === '') return { calls: in_flight, tunnels }
  if (prefix === null || busiest === undefined) return null
  const isWanted = (name: string): boolean =>
    prefix.endsWith(' ') ? name.startsWith(prefix) : name === prefix
  const names = Object.keys(busiest.calls).filter(isWanted)
  if (names.length === 0 && !busiest.is_whole) return null
  if (prefix.endsWith(' ') && !busiest.is_whole) return null
  const sum = (counts: Readonly<Record<string, number>> = {}): number =>
    names.reduce((total, name) => total + (counts[name] ?? 0), 0)
  return { calls: sum(busiest.calls), tunnels: sum(busiest.tunnels) }
}

function sumOf(loads: readonly (Load | null)[], member: keyof Load): number | null {
  let sum = 0
  for (const one of loads) {
    if (one === null) return null
    sum += one[member]
  }
  return sum
}
