import { Type } from 'typebox'
import { DECISIONS } from '../../core/activity/activity-entry.ts'
import { EVENT_NAMES } from '../../core/catalogue/events.ts'
import { type COUNTED_MEMBERS, indexName } from '../../core/activity/activity-index.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import { Count, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer } from '../http/outcome.ts'
import { readableRecord } from '../../core/store/stored-record.ts'

/** Agents that one round trip reads. */
const AGENTS_PER_SCAN = 500

const countsOf = <N extends string>(names: readonly N[]) =>
  Strict(Object.fromEntries(names.map((name) => [name, Count])) as Record<N, typeof Count>)

export const Stats = Strict({
  agents: countsOf(['active', 'killed']),
  integrations: Count,
  scopes: Count,
  webhooks: countsOf(['active', 'failing']),
  alerts: countsOf(['open']),
  edges: Strict({
    live: Count,
    silent: Type.Integer({
      minimum: 0,
      description:
        'Edges that have lost their lease without shutting down, until an alert about each stands for them',
    }),
    in_flight: Type.Integer({ minimum: 0, description: 'Calls in flight on all edges' }),
  }),
  activity: Strict({
    entries: Type.Integer({ minimum: 0, description: 'Indexed entries in the log' }),
    by_event: countsOf(EVENT_NAMES),
    by_decision: countsOf(DECISIONS),
  }),
})

export const statsRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/stats',
    role: 'viewer',
    tag: 'stats',
    summary: 'Read the number of resources of each kind and the size of the activity log',
    answers: { 200: Stats },
    handle: stats,
  }),
]

async function stats({
  context: { redis, settings },
  actor: { organization_id: org },
}: AdminCall): Promise<Outcome> {
  const [agents, integrations, scopes, webhooks, open, edges, by_event, by_decision] =
    await Promise.all([
      countAgents(redis, org),
      redis.hlen(REDIS_KEYS.integrations(org)),
      redis.hlen(REDIS_KEYS.scopeOwners(org)),
      countWebhooks(redis, org),
      redis.hlen(REDIS_KEYS.alertsOpen(org)),
      countEdges(redis, settings.killLease_ms),
      countEntries(redis, org, 'event', EVENT_NAMES),
      countEntries(redis, org, 'decision', DECISIONS),
    ])
  // Every entry has an event.
  const entries = Object.values(by_event).reduce((sum, count) => sum + count, 0)
  const activity = { entries, by_event, by_decision }
  return answer(200, { agents, integrations, scopes, webhooks, alerts: { open }, edges, activity })
}

async function countAgents(redis: RedisClient, org: string) {
  const killed = new Set<string>()
  const all = new Set<string>()
  for (let cursor = '0', begun = false; cursor !== '0' || !begun; begun = true) {
    const key = REDIS_KEYS.agents(org)
    const [next, fields] = await redis.hscan(key, cursor, 'COUNT', AGENTS_PER_SCAN)
    // A scan may show an agent twice.
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const agent_id = fields[i] ?? ''
      all.add(agent_id)
      // One of a newer version counts as active.
      const agent = readableRecord<Agent>(fields[i + 1] ?? '{}')
      if (agent?.status === 'killed') killed.add(agent_id)
    }
    cursor = next
  }
  return { active: all.size - killed.size, killed: killed.size }
}

async function countWebhooks(redis: RedisClient, org: string) {
  const ids = await redis.hkeys(REDIS_KEYS.webhooks(org))
  const since = await Promise.all(
    ids.map((id) => redis.hget(REDIS_KEYS.webhookState(id), 'failing_since_ms')),
  )
  const failing = since.filter((ms) => ms !== null).length
  return { active: ids.length - failing, failing }
}

export async function countEdges(redis: RedisClient, lease_ms: number) {
  const [edges, registered, lost] = await Promise.all([
    liveEdgeRecords(redis, lease_ms),
    redis.zcard(REDIS_KEYS.edgeBeats),
    // No alert stands for these yet, which a store that accepts no writes may delay.
    redis.hlen(REDIS_KEYS.lostEdges),
  ])
  return {
    live: edges.length,
    silent: Math.max(0, registered - edges.length) + lost,
    in_flight: edges.reduce((sum, { record }) => sum + record.in_flight, 0),
  }
}

/** The index counts its entries, and the first row of an index that is left says how many were before it. */
async function countEntries<N extends string>(
  redis: RedisClient,
  org: string,
  member: (typeof COUNTED_MEMBERS)[number],
  values: readonly N[],
): Promise<Record<N, number>> {
  const digest = REDIS_KEYS.activityDigest(org)
  const counts = await Promise.all(
    values.map(async (value) => {
      const name = indexName(member, value)
      const [indexed, [oldest]] = await Promise.all([
        redis.hget(digest, `count ${name}`),
        redis.xrange(REDIS_KEYS.activityIndex(org, name), '-', '+', 'COUNT', 1),
      ])
      return Number(indexed ?? 0) - Number(oldest?.[1][1] ?? 0)
    }),
  )
  return Object.fromEntries(values.map((value, i) => [value, counts[i] ?? 0])) as Record<N, number>
}
