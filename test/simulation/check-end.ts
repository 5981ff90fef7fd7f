import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { KillRecord } from '../../core/kill/kill-record.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { agentId, ORG } from './deployment.ts'
import { isFault } from './plan.ts'
import type { Simulation } from './simulate.ts'
import { Violation } from './world.ts'

/** Longer than an event waits for completion, and its attempts after that. */
const COMPLETED_MAX_MS = 8_000
/** How often it is looked whether something has come about. */
const LOOK_MS = 60

/** A host's clock may differ by a second without a correction; an entry may have waited for the store. */
const EARLY_MAX_MS = 1_200
const LATE_MAX_MS = 15_000

/** For the last calls. */
const LAST_CALLS_MS = 700

/** What must hold once the faults have ended and all had its time. */
export async function checkEnd(simulation: Simulation): Promise<void> {
  await lastCalls(simulation)
  await untilCompleted(simulation)
  nothingIsLeft(simulation)
  eventsAreDelivered(simulation)
  logIsWhole(simulation)
  const { oracle, edges, plan } = simulation
  const { locks, approvals, refresh } = oracle.subjects
  const isDisturbed = plan.steps.some(isFault)
  locks.checkEnd(edges)
  approvals.checkEnd(oracle.calls, isDisturbed)
  refresh?.checkEnd(isDisturbed)
}

/** Every edge serves every agent that is not killed, and none that is. */
async function lastCalls(simulation: Simulation): Promise<void> {
  const { edges, plan, oracle } = simulation
  const paths = plan.subject === 'scopes' ? (['open', 'team'] as const) : (['open'] as const)
  const calls = edges.flatMap((_, edge) =>
    Array.from({ length: plan.agents }, (_agent, agent) =>
      paths.map((path) => {
        const call = simulation.call({ edge, agent, key: 0, lasts_ms: 1, path })
        if (call === null) throw new Violation('end: an edge does not run', `edge-${edge}`)
        return call
      }),
    ).flat(),
  )
  await until(simulation, LAST_CALLS_MS, () => calls.every(({ isOpen }) => !isOpen))
  for (const call of calls) {
    const agent_id = agentId(call.step.agent)
    const { status, since_ms } = oracle.truth(agent_id)
    // An automatic kill is written when the store answers.
    if (since_ms >= call.arrived_ms) continue
    const locked = oracle.subjects.locks.verdict(call)
    const scope = oracle.subjects.scopes?.verdict(call) ?? 'open'
    if ((locked === 'unknown' || scope === 'unknown') && status !== 'killed') continue
    const isRefused = status === 'killed' || locked === 'locked' || scope === 'closed'
    const wanted = isRefused ? 'refused' : 'ended'
    if (call.state !== wanted)
      throw new Violation(
        'end: not as the store says',
        `${call.edge.process.name}, ${agent_id} is ${status}, ${locked}, ${scope}: ${call.state} ${call.reason}`,
      )
  }
}

/** A kill that no edge has acknowledged is completed after a while, and its event delivered after that. */
async function untilCompleted(simulation: Simulation): Promise<void> {
  await until(simulation, COMPLETED_MAX_MS, () => isSettled(simulation))
}

/** For so long at most. */
async function until({ world }: Simulation, max_ms: number, isSo: () => boolean): Promise<void> {
  const end_ms = world.now_ms + max_ms
  while (!isSo() && world.now_ms < end_ms) await world.run(world.now_ms + LOOK_MS)
}

/** Nothing that is stored waits. */
export function isSettled({ store: { model } }: Simulation): boolean {
  const count = (command: string, key: string): number => Number(model.run(command, [key]))
  return (
    count('HLEN', REDIS_KEYS.kills) +
      count('HLEN', REDIS_KEYS.lockings) +
      count('ZCARD', REDIS_KEYS.webhooksDue) +
      count('XLEN', REDIS_KEYS.outbox) ===
    0
  )
}

/** No kill, event or delivery waits; no edge holds a call that has ended. */
function nothingIsLeft({ store, edges, oracle }: Simulation): void {
  const { model } = store
  const count = (command: string, key: string): number => Number(model.run(command, [key]))
  const kills = [REDIS_KEYS.kills, REDIS_KEYS.lockings].flatMap(
    (key) => model.run('HGETALL', [key]) as readonly string[],
  )
  for (let i = 0; i < kills.length; i += 2) {
    const heard = JSON.stringify(
      model.run('HVALS', [REDIS_KEYS.acknowledgements(Number(kills[i]))]),
    )
    const { event } = JSON.parse(kills[i + 1] ?? '') as KillRecord
    // A receipt waits longer for calls of an edge that has ended while it ended them.
    if (event === null && heard.includes('\\"ending\\":')) continue
    throw new Violation('end: a kill is not completed', `${kills[i + 1]} ${heard}`)
  }
  const events = count('XLEN', REDIS_KEYS.outbox)
  if (events > 0) throw new Violation('end: an event is not relayed', String(events))
  const due = count('ZCARD', REDIS_KEYS.webhooksDue)
  if (due > 0) throw new Violation('end: a delivery is due', String(due))
  for (const edge of edges) {
    const open = oracle.calls.filter((call) => call.edge === edge && !call.hasEnded)
    if (edge.fleet !== null && edge.fleet.inFlight.size > open.length)
      throw new Violation('end: a call is held that has ended', edge.process.name)
  }
}

function eventsAreDelivered({ attempts, oracle }: Simulation): void {
  const entries = oracle.entries().filter(({ event }) => /^(agent_killed|locked)$/.test(event))
  for (const { id, agent_id } of entries) {
    const tried = attempts.filter(({ event_id }) => event_id === id)
    if (tried.length === 0) throw new Violation('event: not delivered', `${agent_id} ${id}`)
    const bodies = new Set(tried.map(({ text }) => text))
    // The counts of a kill whose completion was forgotten may be others the second time.
    if (bodies.size > 1 && oracle.failovers === 0)
      throw new Violation('event: two bodies of one event', id)
  }
}

function logIsWhole(simulation: Simulation): void {
  const { oracle } = simulation
  const entries = oracle.entries()
  timesAreOfStore(simulation)
  const ids = entries.map(({ id }) => id)
  if (new Set(ids).size !== ids.length) throw new Violation('log: an entry is there twice', '')
  const killed = entries.filter(({ event }) => event === 'agent_killed')
  const owed = [...oracle.kills.values()].filter(({ isLost }) => !isLost)
  if (oracle.failovers === 0 && killed.length !== owed.length)
    throw new Violation('kill: not one event each', `${killed.length} of ${owed.length}`)
  const locked = entries.filter(({ event }) => event === 'locked')
  if (oracle.failovers === 0 && locked.length !== oracle.subjects.locks.count)
    throw new Violation('lock: not one event each', `${locked.length}`)
  for (const call of oracle.calls) {
    if (call.isCounted || (call.state !== 'refused' && call.reason === '')) continue
    const { process } = call.edge
    if (process.incarnation !== call.incarnation || call.reason === 'agw_gateway_unavailable')
      continue
    const found = entries.filter(
      ({ request_id, event }) => request_id === call.request_id && event !== 'access_requested',
    )
    if (found.length === 0 && oracle.isOnlyCounted(call)) continue
    if (found.length !== 1)
      throw new Violation('log: not one entry of a refusal', `${call.request_id}: ${found.length}`)
  }
}

/** Whatever the clock of a host says; entries may wait for the store to be written. */
function timesAreOfStore({ oracle, plan, store }: Simulation): void {
  const isStepped = plan.steps.some((step) => step.kind === 'clock' && step.process === -1)
  if (isStepped || oracle.failovers > 0) return
  const rows = store.model.run('XRANGE', [REDIS_KEYS.activity(ORG), '-', '+'])
  for (const [place, [kind, text = '']] of rows as [string, string[]][]) {
    if (kind !== 'e') continue
    const { timestamp, event, edge_id } = JSON.parse(text) as ActivityEntry
    const late_ms = Number.parseInt(place, 10) - Date.parse(timestamp)
    if (late_ms < -EARLY_MAX_MS || late_ms > LATE_MAX_MS)
      throw new Violation('log: an entry has another time', `${event} of ${edge_id}: ${late_ms} ms`)
  }
}
