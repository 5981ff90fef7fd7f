import { setTimeout as wait } from 'node:timers/promises'
import type { Environment } from '../../core/settings/settings.ts'
import { closeOpenCalls, openCall } from './open-call.ts'
import type { Operator } from './operator.ts'
import { type Fleet, startFleet } from './start-fleet.ts'
import { until } from './until.ts'

/** A way in which a store fails, and how it is repaired. */
export interface StoreFailure {
  readonly name: string
  readonly begin: () => Promise<unknown>
  /** Whether the store has a primary again that takes writes. */
  readonly isOver: () => Promise<boolean>
  readonly repair: () => Promise<unknown>
}

interface Rounds {
  readonly store: {
    readonly url: string
    readonly isWhole: () => Promise<boolean>
    /** What happens in a round, by its number. */
    readonly failure: (round: number) => Promise<StoreFailure>
    readonly stop: () => Promise<void>
  }
  readonly rounds: number
  readonly edges: number
  readonly env?: Environment
  readonly lease_ms?: number
  readonly say?: (line: string) => void
}

export interface FailoverFigures {
  readonly rounds: number
  readonly calls: number
  readonly failed_calls: number
  readonly kills: number
  /** Of these receipts, how many said that every edge had acknowledged. */
  readonly complete_kills: number
  /** Calls that began after a complete receipt, or a lease after an incomplete one, and were answered by the API. */
  readonly late_calls: number
  /** Killed agents that were served, or active in the store, after the failover. */
  readonly revived_agents: number
  /** Killed agents that the store had lost altogether, as they were created on a primary that was being replaced. */
  readonly lost_agents: number
  /** Rounds in which an edge did not serve again before the limit. */
  readonly stuck_rounds: number
  readonly longest_outage_ms: number
  readonly outages_ms: readonly number[]
}

const LEASE_MS = 3_000
const STUCK_AFTER_MS = 60_000
/** A Sentinel on a busy machine does nothing for half a minute (its TILT mode). */
const STORE_LIMIT_MS = 120_000
/** Characters of the log of an edge that does not serve. */
const LOG_SHOWN = 2_000
const CALL_PAUSE_MS = 10
const KILL_PAUSE_MS = 250
/** Killed agents that are called again after each failover. */
const CHECKED_AGENTS = 12

interface Kill {
  readonly agent: Agent
  /** From then on no call may be served. */
  readonly since_ms: number
  readonly complete: boolean
}

interface Agent {
  readonly agent_id: string
  readonly headers: { readonly authorization: string }
}

/** Calls through every edge, kills in between, and one failure of the store after the other. */
export async function failoverRounds(options: Rounds): Promise<FailoverFigures> {
  const { store, rounds, edges, env = {}, lease_ms = LEASE_MS, say = () => undefined } = options
  const fleet = await startFleet({
    valkey: {
      url: store.url,
      pid: () => 0,
      kill: () => Promise.resolve(),
      start: () => Promise.resolve(),
      stop: store.stop,
    },
    envoys: 'each',
    edges: Array.from({ length: edges }, () => ({})),
    env: { AGW_KILL_LEASE_MS: String(lease_ms), ...env },
  })
  const { base_url, makeAgent } = await makeAgents(fleet)
  const lasting = await makeAgent()
  const killing = startKills(fleet.operator, makeAgent, lease_ms)
  const load = startLoad(fleet, base_url, lasting, killing.kills)
  let revived = 0
  let lost = 0
  let stuck = 0
  const outages: number[] = []
  for (let round = 0; round < rounds; round++) {
    const failure = await store.failure(round)
    await load.serves(performance.now())
    const since_ms = performance.now()
    await failure.begin()
    await until(
      'the store has a primary',
      () => failure.isOver().catch(() => false),
      STORE_LIMIT_MS,
    )
    await wait(lease_ms)
    const isBack = await load.serves(performance.now()).then(
      () => true,
      () => false,
    )
    if (!isBack) {
      stuck++
      say(`served last: ${load.lastServed()}`)
      for (const edge of fleet.edges) say(`${edge.edge_id}: ${edge.log().slice(-LOG_SHOWN)}`)
    }
    const outage_ms = load.outage(since_ms)
    outages.push(outage_ms)
    const isLast = round === rounds - 1
    if (!isLast) {
      await failure.repair()
      await until('the store is whole', () => store.isWhole().catch(() => false))
    }
    const checked = killing.kills.slice(-CHECKED_AGENTS)
    if (!isBack) await load.restart()
    const states = await statesOf(fleet, base_url, checked)
    const alive = states.filter((state) => state === 'alive').length
    revived += alive
    lost += states.filter((state) => state === 'lost').length
    say(
      `round ${round + 1}: ${failure.name}: ${isBack ? `served again after ${outage_ms} ms` : 'NOT SERVED AGAIN'}, ` +
        `${killing.kills.length} kills so far, ${alive} of ${checked.length} checked agents alive, ${lost} lost so far`,
    )
  }
  await killing.stop()
  await load.stop()
  const late = load.lateCalls(killing.kills)
  const figures = {
    rounds,
    calls: load.calls(),
    failed_calls: load.failed(),
    kills: killing.kills.length,
    complete_kills: killing.kills.filter(({ complete }) => complete).length,
    late_calls: late,
    revived_agents: revived,
    lost_agents: lost,
    stuck_rounds: stuck,
    longest_outage_ms: Math.max(...outages),
    outages_ms: outages,
  }
  closeOpenCalls()
  await fleet.stop()
  return figures
}

async function makeAgents({ operator, upstream }: Fleet) {
  const { base_url, integration } = await operator.makeAccess(`${upstream.origin}/v1`)
  return {
    base_url,
    makeAgent: async (): Promise<Agent> => {
      const made = await operator.makeAgent()
      await operator.makeScope(made.agent_id, integration.integration_id)
      return { agent_id: made.agent_id, headers: { authorization: `Bearer ${made.api_key}` } }
    },
  }
}

/** Every other call is one of an agent that was killed; its path says when it began. */
const callKilled = (url: string, base_url: string, { agent_id, headers }: Agent) =>
  openCall(url, `${base_url}/of-${agent_id}?${performance.now()}`, headers).ended

function startLoad(fleet: Fleet, base_url: string, lasting: Agent, kills: readonly Kill[]) {
  const served: { at_ms: number; edge: number }[] = []
  let calls = 0
  let failed = 0
  /** The latest answer on each edge, for the message of a failure. */
  const answers: string[] = []
  let isOver = false
  const ends = fleet.edges.map(async ({ url }, edge) => {
    while (!isOver) {
      calls++
      const end = await openCall(url, `${base_url}/ok`, lasting.headers).ended
      answers[edge] = `${end.status} ${end.reason}`
      if (end.status === 200) served.push({ at_ms: performance.now(), edge })
      else failed++
      const killed = kills.at(-1 - (calls % CHECKED_AGENTS))
      if (killed !== undefined) await callKilled(url, base_url, killed.agent)
      await wait(CALL_PAUSE_MS)
    }
  })
  const serves = (since_ms: number): Promise<unknown> =>
    until(
      'every edge serves',
      () =>
        fleet.edges.every((_, edge) =>
          served.some((one) => one.edge === edge && one.at_ms > since_ms),
        ),
      STUCK_AFTER_MS,
    )
  return {
    calls: () => calls,
    failed: () => failed,
    lastServed: (): string =>
      fleet.edges
        .map((_, edge) => {
          const last = served.findLast((one) => one.edge === edge)?.at_ms ?? 0
          return `edge ${edge}: ${Math.round(performance.now() - last)} ms ago, ${answers[edge] ?? ''}`
        })
        .join('; '),
    serves,
    /** The longest time without a served call, over all edges. */
    outage: (since_ms: number): number => {
      const gaps = fleet.edges.map((_, edge) => {
        const times = served
          .filter((one) => one.edge === edge && one.at_ms >= since_ms)
          .map(({ at_ms }) => at_ms)
        times.push(performance.now())
        return Math.max(...times.map((time, i) => time - (times[i - 1] ?? since_ms)))
      })
      return Math.round(Math.max(...gaps))
    },
    restart: async (): Promise<void> => {
      for (const edge of fleet.edges) {
        edge.signal('SIGKILL')
        await edge.exited()
        await edge.restart()
      }
      await serves(performance.now())
    },
    lateCalls: (kills: readonly Kill[]): number =>
      kills.reduce((sum, { agent, since_ms }) => {
        const path = `/v1/of-${agent.agent_id}?`
        const late = fleet.upstream.begun.filter(
          (one) => one.path.startsWith(path) && Number(one.path.slice(path.length)) > since_ms,
        )
        return sum + late.length
      }, 0),
    stop: async (): Promise<void> => {
      isOver = true
      await Promise.all(ends)
    },
  }
}

function startKills(operator: Operator, makeAgent: () => Promise<Agent>, lease_ms: number) {
  const kills: Kill[] = []
  let isOver = false
  const end = (async (): Promise<void> => {
    while (!isOver) {
      await wait(KILL_PAUSE_MS)
      const agent = await makeAgent().catch(() => null)
      if (agent === null) continue
      const path = `/admin/agents/${agent.agent_id}/kill`
      const receipt = await operator.send('POST', path).catch(() => null)
      if (receipt === null) continue
      const now_ms = performance.now()
      const complete = receipt.complete === true
      kills.push({ agent, complete, since_ms: complete ? now_ms : now_ms + lease_ms })
    }
  })()
  return {
    kills,
    stop: async (): Promise<void> => {
      isOver = true
      await end
    },
  }
}

/** Calls killed agents on every edge, and reads them from the store. */
async function statesOf(
  fleet: Fleet,
  base_url: string,
  kills: readonly Kill[],
): Promise<readonly ('dead' | 'lost' | 'alive')[]> {
  return Promise.all(
    kills.map(async ({ agent, since_ms }) => {
      const left_ms = since_ms - performance.now()
      if (left_ms > 0) await wait(left_ms)
      const ends = await Promise.all(fleet.edges.map(({ url }) => callKilled(url, base_url, agent)))
      if (ends.some(({ status }) => status === 200)) return 'alive'
      const path = `/admin/agents/${agent.agent_id}`
      return until(
        'the store has the kill or not the agent',
        async () => {
          const stored = await fleet.operator.send('GET', path).catch((error: Error) => error)
          if (stored instanceof Error) return stored.message.includes('404') && ('lost' as const)
          return stored.status === 'killed' && ('dead' as const)
        },
        STUCK_AFTER_MS,
      ).catch(() => 'alive' as const)
    }),
  )
}
