import { type Static, Type } from 'typebox'
import { eventRow } from '../../core/catalogue/events.ts'
import type { Agent, Integration } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { Count, Nullable, Strict, Timestamp } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer } from '../http/outcome.ts'
import { listRecords, NEWER } from '../resources/records.ts'
import { MINUTE_S } from './count-buckets.ts'
import { countRange, OTHER, readCounts, wholeSince } from './read-counts.ts'

const MINUTES_MAX = 60
const MINUTES_DEFAULT = 5
/** Of one answer. A picture of more cannot be read. */
const PAIRS_MAX = 200

const Calls = { allowed: Count, refused: Count }
const Id = Nullable(Type.String({ description: 'Null where a call had none' }))
const Name = Nullable(Type.String({ description: 'Null if it was deleted' }))
export const Flow = Strict({
  from: Timestamp,
  to: Timestamp,
  minutes: Type.Integer(),
  pairs: Type.Array(
    Strict({
      agent_id: Id,
      agent_name: Name,
      integration_id: Id,
      integration_name: Name,
      ...Calls,
    }),
    { description: `The ${PAIRS_MAX} with most calls, the largest first` },
  ),
  others: Strict(Calls),
  total: Strict(Calls),
})
interface Pair {
  readonly agent_id: string | null
  readonly integration_id: string | null
  allowed: number
  refused: number
}

const FlowQuery = Strict({
  minutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MINUTES_MAX, default: MINUTES_DEFAULT }),
  ),
})

export const flowRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/activity/flow',
    role: 'viewer',
    compressed: true,
    tag: 'activity',
    summary: 'Count the calls of the last minutes by agent and integration, allowed and refused',
    query: FlowQuery,
    answers: { 200: Flow },
    handle: flow,
  }),
]

/** Counted from the buckets by the minute, however many entries there are. */
async function flow({
  context: { redis, now },
  actor: { organization_id: org },
  query: { minutes = MINUTES_DEFAULT },
}: AdminCall<unknown, Static<typeof FlowQuery>>): Promise<Outcome> {
  const now_ms = now().getTime()
  const since_s = await wholeSince(redis, org)
  const span = { from_ms: now_ms - minutes * MINUTE_S * 1000, to_ms: now_ms }
  const range = countRange(span, { step_s: MINUTE_S, since_s, now_ms })
  const found = new Map<string, Pair>()
  const [total, others] = [
    { allowed: 0, refused: 0 },
    { allowed: 0, refused: 0 },
  ]
  await readCounts(redis, org, range, (_, { agent_id, integration_id, decision, event }, __, n) => {
    if (eventRow(event ?? '')?.reports_call !== true) return
    const kind = decision === 'blocked' ? 'refused' : 'allowed'
    total[kind] += n
    if (agent_id === OTHER || integration_id === OTHER) return void (others[kind] += n)
    const key = `${agent_id} ${integration_id}`
    const pair = found.get(key) ?? { agent_id, integration_id, allowed: 0, refused: 0 }
    found.set(key, pair)
    pair[kind] += n
  })
  const falling = [...found.values()].sort((a, b) => b.allowed + b.refused - a.allowed - a.refused)
  for (const { allowed, refused } of falling.splice(PAIRS_MAX)) {
    others.allowed += allowed
    others.refused += refused
  }
  const namesOf = async <T>(hash: string, ids: readonly (string | null)[]) => {
    const known = [...new Set(ids.filter((id) => id !== null))]
    const records = known.length === 0 ? [] : await listRecords<T>(redis, hash, known)
    return new Map(known.map((id, at) => [id, records[at] === NEWER ? null : records[at]]))
  }
  const [agents, integrations] = await Promise.all([
    namesOf<Agent>(
      REDIS_KEYS.agents(org),
      falling.map(({ agent_id }) => agent_id),
    ),
    namesOf<Integration>(
      REDIS_KEYS.integrations(org),
      falling.map(({ integration_id }) => integration_id),
    ),
  ])
  return answer(200, {
    from: new Date(range.from_s * 1000).toISOString(),
    to: new Date(now_ms).toISOString(),
    minutes,
    pairs: falling.map((pair) => ({
      ...pair,
      agent_name: agents.get(pair.agent_id ?? '')?.agent_name ?? null,
      integration_name: integrations.get(pair.integration_id ?? '')?.name ?? null,
    })),
    others,
    total,
  })
}
