import { parseArgs } from 'node:util'
import type { RedisClient } from '../core/redis/run-script.ts'
import { call, closeConnections } from '../test/kit/call.ts'
import { type Access, type Operator, operatorAt } from '../test/kit/operator.ts'
import { type Fleet, startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { agentTemplate, fillAgents } from './fill-agents.ts'
import { distribution } from './kill-fixture.ts'
import { residentBytes } from './resident-bytes.ts'

/**
 * `npm run bench -- scale [--agents 10000,100000] [--samples 30] [--edges 4]`: memory of the store and of an edge, the time until an
 * edge serves after a start, and the time of a change, a kill, a lock, a list and a call, with so many agents, of which the first size is what the others are compared with. Each agent has a key, a
 * scope, and one more by its labels, which all have; the records are copied in the store from one that the admin API has made. An
 * organization has at most 100,000 agents, so more of them are in further organizations.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '10000,100000' },
    samples: { type: 'string', default: '30' },
    edges: { type: 'string', default: '1' },
  },
})
const sizes = values.agents.split(',').map(Number)
const samples = Math.min(Number(values.samples), 1_000)
const ORGANIZATION = 'org_default'
const AGENTS_OF_ORGANIZATION = 100_000
const LABELS = { team: 'scale' }

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const mib = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`

async function storeBytes(redis: RedisClient): Promise<number> {
  const info = await redis.info('memory')
  return Number(/used_memory:(\d+)/.exec(info)?.[1] ?? 0)
}

/** The first organization has room for the agents of the bench itself. */
const organizationAt = (i: number): string => {
  const number = Math.floor(i / (AGENTS_OF_ORGANIZATION - 1_000))
  return number === 0 ? ORGANIZATION : `org_scale_${number}`
}

async function timed(work: (i: number) => Promise<unknown>, times = samples): Promise<string> {
  const took: number[] = []
  for (let i = 0; i < times; i++) {
    const began_ms = performance.now()
    await work(i)
    took.push(performance.now() - began_ms)
  }
  return distribution(took)
}

async function measure(fleet: Fleet, access: Access, keys: readonly string[]): Promise<void> {
  const [edge] = fleet.edges
  if (edge === undefined) throw new Error('there is no edge')
  // The admin service answers at once, while a call may wait for kills of the bench itself.
  const operator = operatorAt(fleet.admin.url, fleet.admin.token)
  const send = async (headers: Readonly<Record<string, string>>): Promise<void> => {
    const { status, body } = await call({ to: edge.url, path: `/${access.base_url}/x`, headers })
    if (status !== 200) throw new Error(`a call was answered with ${status}: ${body.toString()}`)
  }
  edge.signal('SIGTERM')
  await edge.exited()
  const began_ms = performance.now()
  await edge.restart()
  await until('Envoy sends calls to the edge', () =>
    send(access.headers).then(
      () => true,
      () => false,
    ),
  )
  say(`  edge serves after a start    ${(performance.now() - began_ms).toFixed(0)} ms`)
  const before = residentBytes(edge.pid())
  const unused = [...keys]
  say(
    `  call of an agent not cached  ${await timed(() => send({ authorization: `Bearer ${unused.pop()}` }), Math.min(samples, keys.length))}`,
  )
  await timed(() => send(access.headers), 200)
  say(`  call of a cached agent       ${await timed(() => send(access.headers), 500)}`)
  say(
    `  memory of the edge           ${mib(before)} after the start, ${mib(residentBytes(edge.pid()))} after the calls; of admin ${mib(residentBytes(fleet.admin.pid))}`,
  )
  const scope = `/admin/scopes/${access.scope_id}`
  say(
    `  change of a scope            ${await timed((i) => operator.send('PUT', scope, { priority: 100 + i }))}`,
  )
  const selecting = `/admin/scopes/${selecting_scope_id}`
  say(
    `  change of a scope by labels  ${await timed((i) => operator.send('PUT', selecting, { priority: 100 + i }))}`,
  )
  const labelled = `/admin/agents/${access.agent.agent_id}`
  say(
    `  change of labels             ${await timed((i) => operator.send('PATCH', labelled, { labels: { team: i % 2 === 0 ? null : 'scale' } }))}`,
  )
  await operator.send('PATCH', labelled, { labels: LABELS })
  const { lock_ids, took } = await lockAll(operator)
  say(`  lock of all by labels        ${took}`)
  for (const id of lock_ids) await operator.send('DELETE', `/admin/locks/${id}`, {})
  say(`  creation of an agent         ${await timed(() => operator.makeAgent())}`)
  const victims: string[] = []
  for (let i = 0; i < samples; i++) victims.push((await operator.makeAgent()).agent_id)
  say(
    `  kill                         ${await timed((i) => operator.send('POST', `/admin/agents/${victims[i]}/kill`, { reason: 'bench' }))}`,
  )
  const lists = ['limit=50', 'limit=200', 'status=killed', 'q=number%2077', 'q=nothing']
  for (const query of lists)
    say(
      `  list of agents ?${query.padEnd(13)} ${await timed(() => operator.send('GET', `/admin/agents?${query}`), 5)}`,
    )
}

async function lockAll(operator: Operator) {
  const lock_ids: string[] = []
  const target = { agent_selector: { match_labels: LABELS } }
  const took = await timed(async () => {
    const lock = await operator.send('POST', '/admin/locks', { target, mode: 'read_only' })
    lock_ids.push(lock.lock_id)
  })
  return { lock_ids, took }
}

const fleet = await startFleet({
  edges: Array.from({ length: Number(values.edges) }, () => ({})),
  envoys: 'each',
})
const { redis, operator } = fleet
const access = await operator.makeAccess(`${fleet.upstream.origin}/scale`, {
  scope: { rate_limiting: { requests_per_minute: null } },
})
await operator.send('PATCH', `/admin/agents/${access.agent.agent_id}`, { labels: LABELS })
const { scope_id: selecting_scope_id } = await operator.makeScope('', '', {
  agent_id: undefined,
  agent_selector: { match_labels: LABELS },
  integration_id: access.integration.integration_id,
  rate_limiting: { requests_per_minute: null },
})
const template = await agentTemplate(redis, access)
const empty = await storeBytes(redis)
let count = 0
const keys: string[] = []
for (const size of sizes) {
  const began_ms = performance.now()
  keys.push(...(await fillAgents(redis, template, { from: count, to: size, organizationAt })))
  count = size
  const used = (await storeBytes(redis)) - empty
  say(
    `${size.toLocaleString('en')} agents, each with a key and a scope (stored in ${((performance.now() - began_ms) / 1000).toFixed(0)} s)`,
  )
  say(`  memory of the store          ${mib(used)}, ${(used / size).toFixed(0)} bytes an agent`)
  await measure(fleet, access, keys)
}
closeConnections()
await fleet.stop()
