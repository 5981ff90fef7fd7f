import { setImmediate as turn } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { eventRow } from '../../core/catalogue/events.ts'
import type { Agent, Integration, Scope } from '../../core/catalogue/model.ts'
import { SELECTED } from '../../core/catalogue/model.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import { chunksOf } from '../../core/system/chunks-of.ts'
import { TWO_HOURS_S } from '../activity/count-buckets.ts'
import { countRange, OTHER, readCounts, wholeSince } from '../activity/read-counts.ts'
import { Count, Strict, Timestamp } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer } from '../http/outcome.ts'
import { agentSelecting } from '../labels/selected.ts'
import { listRecords, NEWER } from '../resources/records.ts'

const DAYS = 30
const DAY_MS = 86_400_000
/** The newest agents and integrations; a picture of more is not read. */
const AGENTS_MAX = 1_000
const INTEGRATIONS_MAX = 500
/** Of one answer, some 100 bytes each. */
const CELLS_MAX = 20_000
/** Agents whose scopes one round trip reads; other requests are served between two. */
const AGENTS_PER_READ = 100
const SCOPES_SHOWN = 3

const Cell = Strict({
  agent_id: Type.String(),
  integration_id: Type.String(),
  scopes: Type.Array(
    Strict({
      scope_id: Type.String(),
      name: Type.String(),
      created_at: Timestamp,
      is_selecting: Type.Boolean({ description: 'It applies by labels, to other pairs too' }),
    }),
    { description: 'That are in force or will be; the first three' },
  ),
  allowed: Type.Integer({ minimum: 0, description: 'Calls that were forwarded' }),
  refused: Count,
})
type Cell = Static<typeof Cell>

export const AccessMap = Strict({
  from: Type.String({ format: 'date-time', description: 'Since when calls are counted' }),
  agents: Type.Array(
    Strict({ agent_id: Type.String(), agent_name: Type.String(), status: Type.String() }),
  ),
  integrations: Type.Array(Strict({ integration_id: Type.String(), name: Type.String() })),
  cells: Type.Array(Cell, { description: 'Pairs with a scope or a call' }),
  exact: Type.Boolean({
    description: `Whether nothing was left out: there are at most ${AGENTS_MAX} agents, ${INTEGRATIONS_MAX} integrations and ${CELLS_MAX} pairs, and all calls were counted by agent and integration`,
  }),
})

export const accessMapRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/access-map',
    role: 'viewer',
    costly: 'compute',
    compressed: true,
    tag: 'stats',
    summary: `Which agent may call which integration, and what it called in the last ${DAYS} days`,
    answers: { 200: AccessMap },
    handle: accessMap,
  }),
]

async function accessMap({
  context: { redis, now },
  actor: { organization_id: org },
}: AdminCall): Promise<Outcome> {
  const now_ms = now().getTime()
  const [agents, integrations, selecting] = await Promise.all([
    newest<Agent>(redis, REDIS_KEYS.agentIndex(org), REDIS_KEYS.agents(org), AGENTS_MAX),
    newest<Integration>(
      redis,
      REDIS_KEYS.integrationIndex(org),
      REDIS_KEYS.integrations(org),
      INTEGRATIONS_MAX,
    ),
    agentSelecting(redis, org),
  ])
  const cells = new Cells(integrations.records)
  for (const some of chunksOf(agents.records, AGENTS_PER_READ)) {
    const own = await Promise.all(
      some.map(({ agent_id }) => redis.hvals(REDIS_KEYS.agentScopes(org, agent_id))),
    )
    for (const [at, agent] of some.entries()) {
      for (const text of own[at] ?? []) cells.grant(agent, readableRecord<Scope>(text), now_ms)
      for (const scope of selecting)
        if (matchesSelector(scope.agent_selector, agent.labels)) cells.grant(agent, scope, now_ms)
    }
    await turn()
  }
  const known = new Set(agents.records.map(({ agent_id }) => agent_id))
  const { from_s, exact } = await countCalls(
    redis,
    org,
    now_ms,
    (agent_id, integration_id, used) =>
      known.has(agent_id) ? cells.use(agent_id, integration_id, used) : undefined,
  )
  return answer(200, {
    from: new Date(from_s * 1000).toISOString(),
    agents: agents.records.map(({ agent_id, agent_name, status }) => ({
      agent_id,
      agent_name,
      status,
    })),
    integrations: integrations.records.map(({ integration_id, name }) => ({
      integration_id,
      name,
    })),
    cells: cells.all(),
    exact: exact && agents.isWhole && integrations.isWhole && cells.isWhole,
  })
}

async function newest<T>(redis: RedisClient, index: string, hash: string, max: number) {
  const ids = await redis.zrevrange(index, 0, max)
  const records: T[] = []
  for (const some of chunksOf(ids.slice(0, max), AGENTS_PER_READ)) {
    const read = await listRecords<T>(redis, hash, some)
    records.push(...read.flatMap((one) => (one === null || one === NEWER ? [] : [one])))
  }
  return { records, isWhole: ids.length <= max }
}

/** Pairs of an agent and an integration. */
class Cells {
  isWhole = true
  readonly #cells = new Map<string, Cell>()
  readonly #integrations: ReadonlyMap<string, Integration>

  constructor(integrations: readonly Integration[]) {
    this.#integrations = new Map(integrations.map((one) => [one.integration_id, one]))
  }

  /** A scope that has ended grants nothing. */
  grant({ agent_id }: Agent, scope: Scope | null, now_ms: number): void {
    if (scope === null) return
    const { expires_at = null, integration_id, integration_selector } = scope
    if (expires_at !== null && Date.parse(expires_at) <= now_ms) return
    const { scope_id, name, created_at } = scope
    const is_selecting = scope.agent_id === SELECTED || integration_id === SELECTED
    const granted = { scope_id, name, created_at, is_selecting }
    if (integration_id !== SELECTED) return this.#add(agent_id, integration_id, granted)
    for (const { integration_id: id, labels } of this.#integrations.values())
      if (matchesSelector(integration_selector, labels)) this.#add(agent_id, id, granted)
  }

  use(agent_id: string, integration_id: string, { allowed, refused }: Used): void {
    const cell = this.#cellOf(agent_id, integration_id)
    if (cell === null) return
    cell.allowed += allowed
    cell.refused += refused
  }

  all(): readonly Cell[] {
    return [...this.#cells.values()]
  }

  #add(agent_id: string, integration_id: string, scope: Cell['scopes'][number]): void {
    const cell = this.#cellOf(agent_id, integration_id)
    if (cell !== null && cell.scopes.length < SCOPES_SHOWN) cell.scopes.push(scope)
  }

  #cellOf(agent_id: string, integration_id: string): Cell | null {
    if (!this.#integrations.has(integration_id)) return null
    const key = `${agent_id} ${integration_id}`
    const known = this.#cells.get(key)
    if (known !== undefined) return known
    if (this.#cells.size >= CELLS_MAX) {
      this.isWhole = false
      return null
    }
    const cell: Cell = { agent_id, integration_id, scopes: [], allowed: 0, refused: 0 }
    this.#cells.set(key, cell)
    return cell
  }
}

interface Used {
  readonly allowed: number
  readonly refused: number
}

/** The calls of the last days by agent and integration. */
async function countCalls(
  redis: RedisClient,
  org: string,
  now_ms: number,
  take: (agent_id: string, integration_id: string, used: Used) => void,
): Promise<{ readonly from_s: number; readonly exact: boolean }> {
  const since_s = await wholeSince(redis, org)
  const span = { from_ms: now_ms - DAYS * DAY_MS, to_ms: now_ms }
  const range = countRange(span, { step_s: TWO_HOURS_S, since_s, now_ms })
  let exact = true
  await readCounts(redis, org, range, (_, combination, __, calls) => {
    const { agent_id, integration_id, decision, event } = combination
    if (eventRow(event ?? '')?.reports_call !== true) return
    if (agent_id === OTHER || integration_id === OTHER) exact = false
    if (agent_id === null || integration_id === null) return
    const refused = decision === 'blocked' ? calls : 0
    take(agent_id, integration_id, { allowed: calls - refused, refused })
  })
  return { from_s: range.from_s, exact }
}
