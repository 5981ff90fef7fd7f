import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { agentId, ORG } from './deployment.ts'
import type { Simulation } from './simulate.ts'
import { Violation } from './world.ts'

/** Longer than an event waits for completion, and its attempts after that. */
const COMPLETED_STEPS = 16
const COMPLETED_STEP_MS = 500

/** For the last calls. */
const LAST_CALLS_MS = 700

/** What must hold once the faults have ended and all had its time. */
export async function checkEnd(simulation: Simulation): Promise<void> {
  await lastCalls(simulation)
  await untilCompleted(simulation)
  nothingIsLeft(simulation)
  eventsAreDelivered(simulation)
  logIsWhole(simulation)
}

/** Every edge serves every agent that is not killed, and none that is. */
async function lastCalls(simulation: Simulation): Promise<void> {
  const { world, edges, plan, oracle } = simulation
  const calls = edges.flatMap((_, edge) =>
    Array.from({ length: plan.agents }, (_agent, agent) => {
      const step = {
        at_ms: 0,
        kind: 'call',
        edge,
        agent,
        key: 0,
        lasts_ms: 1,
        path: 'open',
      } as const
      const call = simulation.call(step)
      if (call === null) throw new Violation('end: an edge does not run', `edge-${edge}`)
      return call
    }),
  )
  await world.run(world.now_ms + LAST_CALLS_MS)
  for (const call of calls) {
    const agent_id = agentId(call.step.agent)
    const { status } = oracle.truth(agent_id)
    const wanted = status === 'killed' ? 'refused' : 'ended'
    if (call.state !== wanted)
      throw new Violation(
        'end: not as the store says',
        `${call.edge.process.name}, ${agent_id} is ${status}: ${call.state} ${call.reason}`,
      )
  }
}

/** A kill that no edge has acknowledged is completed after a while, and its event delivered after that. */
async function untilCompleted({ store, world }: Simulation): Promise<void> {
  const { model } = store
  for (let step = 0; step < COMPLETED_STEPS; step++) {
    const count = Number(model.run('HLEN', [REDIS_KEYS.kills]))
    if (count + Number(model.run('ZCARD', [REDIS_KEYS.webhooksDue])) === 0) return
    await world.run(world.now_ms + COMPLETED_STEP_MS)
  }
}

/** No kill, event or delivery waits; no edge holds a call that has ended. */
function nothingIsLeft({ store, edges, oracle }: Simulation): void {
  const { model } = store
  const count = (command: string, key: string): number => Number(model.run(command, [key]))
  const kills = model.run('HGETALL', [REDIS_KEYS.kills]) as readonly string[]
  if (kills.length > 0) {
    const heard = model.run('HVALS', [REDIS_KEYS.acknowledgements(Number(kills[0]))])
    throw new Violation('end: a kill is not completed', `${kills[1]} ${JSON.stringify(heard)}`)
  }
  const events = count('XLEN', REDIS_KEYS.outbox)
  if (events > 0) throw new Violation('end: an event is not relayed', String(events))
  const due = count('ZCARD', REDIS_KEYS.webhooksDue)
  if (due > 0) throw new Violation('end: a delivery is due', String(due))
  for (const edge of edges) {
    const open = oracle.calls.filter((call) => call.edge === edge && call.isOpen)
    if (edge.fleet !== null && edge.fleet.inFlight.size > open.length)
      throw new Violation('end: a call is held that has ended', edge.process.name)
  }
}

function eventsAreDelivered({ attempts, oracle }: Simulation): void {
  const entries = oracle.entries().filter(({ event }) => event === 'agent_killed')
  for (const { id, agent_id } of entries) {
    const tried = attempts.filter(({ event_id }) => event_id === id)
    if (tried.length === 0) throw new Violation('event: not delivered', `${agent_id} ${id}`)
    const bodies = new Set(tried.map(({ text }) => text))
    // The counts of a kill whose completion was forgotten may be others the second time.
    if (bodies.size > 1 && oracle.failovers === 0)
      throw new Violation('event: two bodies of one event', id)
  }
}

function logIsWhole({ oracle }: Simulation): void {
  const entries = oracle.entries()
  const ids = entries.map(({ id }) => id)
  if (new Set(ids).size !== ids.length) throw new Violation('log: an entry is there twice', '')
  const killed = entries.filter(({ event }) => event === 'agent_killed')
  const owed = [...oracle.kills.values()].filter(({ isLost }) => !isLost)
  if (oracle.failovers === 0 && killed.length !== owed.length)
    throw new Violation('kill: not one event each', `${killed.length} of ${owed.length}`)
  for (const call of oracle.calls) {
    if (call.state !== 'refused' && call.reason === '') continue
    const { process } = call.edge
    if (process.incarnation !== call.incarnation || call.reason === 'agw_gateway_unavailable')
      continue
    const found = entries.filter(({ request_id }) => request_id === call.request_id)
    if (found.length !== 1)
      throw new Violation('log: not one entry of a refusal', `${call.request_id}: ${found.length}`)
  }
}
