import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { hashKey, mintId, mintKey } from '../core/api-key.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { call, closeConnections } from '../test/kit/call.ts'
import { type Access, operatorAt } from '../test/kit/operator.ts'
import { type Fleet, startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- scale [--agents 10000,100000] [--samples 30]`: memory of the store and of an edge, the time until an edge
 * serves after a start, and the time of a change, a kill, a list and a call, with so many agents. Each agent has a key and a
 * scope; the records are copied in the store from one that the admin API has made. An organization has at most 100,000 agents,
 * so more of them are in further organizations.
 */
const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '10000,100000' },
    samples: { type: 'string', default: '30' },
  },
})
const sizes = values.agents.split(',').map(Number)
const samples = Math.min(Number(values.samples), 1_000)
const ORGANIZATION = 'org_default'
const AGENTS_OF_ORGANIZATION = 100_000
const PIPELINE = 500

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const mib = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`

/** Of a process, from /proc. */
const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024

async function storeBytes(redis: RedisClient): Promise<number> {
  const info = await redis.info('memory')
  return Number(/used_memory:(\d+)/.exec(info)?.[1] ?? 0)
}

interface Template {
  readonly agent: string
  readonly key: string
  readonly scope: string
  readonly agent_id: string
  readonly key_id: string
  readonly scope_id: string
  readonly integration_id: string
  readonly hash: string
}

/** The records of an agent that the admin API has made. */
async function templateOf(redis: RedisClient, access: Access): Promise<Template> {
  const { agent_id, api_key } = access.agent
  const { scope_id } = access
  const hash = hashKey(api_key)
  const link = await redis.hget(REDIS_KEYS.apiKeyHashes, hash)
  const key_id = link?.split(' ')[1] ?? ''
  const [agent, key, scope] = await Promise.all([
    redis.hget(REDIS_KEYS.agents(ORGANIZATION), agent_id),
    redis.hget(REDIS_KEYS.apiKeys(ORGANIZATION), key_id),
    redis.hget(REDIS_KEYS.agentScopes(ORGANIZATION, agent_id), scope_id),
  ])
  if (agent === null || key === null || scope === null)
    throw new Error('the records of the agent are not where they are looked for')
  const { integration_id } = access.integration
  return { agent, key, scope, agent_id, key_id, scope_id, integration_id, hash }
}

/** Adds agents with a key and a scope each; answers keys that work, of some agents of the first organization. */
async function addAgents(
  redis: RedisClient,
  template: Template,
  from: number,
  to: number,
): Promise<readonly string[]> {
  const known: string[] = []
  let pipeline = redis.pipeline()
  for (let i = from; i < to; i++) {
    const org = organizationAt(i)
    const [agent_id, key_id, scope_id] = [mintId('agt'), mintId('key'), mintId('scp')]
    const isKnown = i % 500 === 0 && org === ORGANIZATION
    const api_key = mintKey('live')
    const hash = hashKey(api_key)
    if (isKnown) known.push(api_key)
    const own = (text: string): string =>
      text
        .replaceAll(template.agent_id, agent_id)
        .replaceAll(template.key_id, key_id)
        .replaceAll(template.scope_id, scope_id)
        .replaceAll(template.hash, hash)
        .replaceAll(`"${ORGANIZATION}"`, `"${org}"`)
        .replace(/"agent_name":"[^"]*"/, `"agent_name":"agent number ${i}"`)
    pipeline
      .hset(REDIS_KEYS.agents(org), agent_id, own(template.agent))
      .zadd(REDIS_KEYS.agentIndex(org), i, agent_id)
      .hset(REDIS_KEYS.apiKeys(org), key_id, own(template.key))
      .zadd(REDIS_KEYS.apiKeyIndex(org, agent_id), i, key_id)
      .hset(REDIS_KEYS.apiKeyHashes, hash, `${org} ${key_id}`)
      .hset(REDIS_KEYS.agentScopes(org, agent_id), scope_id, own(template.scope))
      .hset(REDIS_KEYS.scopeOwners(org), scope_id, agent_id)
      .zadd(REDIS_KEYS.scopeIndex(org), i, scope_id)
      .hset(REDIS_KEYS.integrationScopes(org, template.integration_id), scope_id, agent_id)
    if ((i + 1) % PIPELINE === 0 || i + 1 === to) {
      await pipeline.exec()
      pipeline = redis.pipeline()
    }
  }
  return known
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
  took.sort((a, b) => a - b)
  const at = (part: number): string =>
    (took[Math.min(took.length - 1, Math.floor(part * took.length))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, max ${at(1)} ms`
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
    `  memory of the edge           ${mib(before)} after the start, ${mib(residentBytes(edge.pid()))} after the calls`,
  )
  const scope = `/admin/scopes/${access.scope_id}`
  say(
    `  change of a scope            ${await timed((i) => operator.send('PUT', scope, { priority: 100 + i }))}`,
  )
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

const fleet = await startFleet()
const { redis, operator } = fleet
const access = await operator.makeAccess(`${fleet.upstream.origin}/scale`, {
  scope: { rate_limiting: { requests_per_minute: null } },
})
const template = await templateOf(redis, access)
const empty = await storeBytes(redis)
let count = 0
const keys: string[] = []
for (const size of sizes) {
  const began_ms = performance.now()
  keys.push(...(await addAgents(redis, template, count, size)))
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
