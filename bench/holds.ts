import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { call, closeConnections, type HttpAnswer, type HttpCall } from '../test/kit/call.ts'
import { inspectHeap } from '../test/kit/inspect-heap.ts'
import type { KitEnvoy } from '../test/kit/start-envoy.ts'
import { type Access, operatorAt } from '../test/kit/operator.ts'
import { type FleetEdge, startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { fromRoot } from '../core/system/root.ts'
import { measureCpu, medianOf } from './measure-cpu.ts'
import { quantile } from './quantile.ts'
import { residentBytes } from './resident-bytes.ts'
import { GET_UNCHECKED, POST_ALL_ON } from './rows.ts'
import { startLoad } from './start-load.ts'
import { startPlainEnvoy } from './start-plain-envoy.ts'
import { ROLES, startProduct } from './subjects.ts'

/**
 * `npm run bench -- holds [--seconds 55] [--held 1000] [--rounds 15]`: calls that wait for a decision, each ended in another way after
 * `--seconds`; the memory that `--held` of them at once cost, next to calls to a slow API; and the CPU time of calls that need no
 * approval, in a scope that asks for one elsewhere next to a scope that does not. 0 leaves a part out. The exit code is 1 if a wait does
 * not end as it should.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '55' },
    held: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '15' },
  },
})
const seconds = Math.min(Number(values.seconds), 250)
/** Of one agent at once: the limit. */
const HELD_OF_AGENT = 100
const LONGEST = 290
const LIMIT_MS = (LONGEST + 30) * 1000
const LARGE_BYTES = 5_000_000
const SETTLE_MS = 4_000
const CALLS = 4_000
let faults = 0

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const connections = new Agent({ keepAlive: true, maxSockets: 2_000 })
const fleet = await startFleet({
  edges: [{}, {}],
  envoys: 'each',
  env: { AGW_KILL_LEASE_MS: '15000', NODE_OPTIONS: '--inspect=127.0.0.1:0' },
})
const { upstream, edges, redis, admin } = fleet
let { operator } = fleet
const [stays, drains] = edges as [FleetEdge, FleetEdge]
const heap = await inspectHeap(stays.log())

try {
  if (seconds > 0) await endHolds()
  const held = Math.min(Number(values.held), 1_000)
  if (held > 0) await compareMemory(held)
} finally {
  closeConnections()
  connections.destroy()
  heap.close()
  await fleet.stop()
}
if (Number(values.rounds) > 0) await compareCost(Number(values.rounds))
say(faults === 0 ? 'no fault' : `${faults} faults`)
process.exit(faults === 0 ? 0 : 1)

interface Asked {
  readonly access: Access
  readonly edge: FleetEdge
  readonly wait_seconds: number
  readonly body: string
  readonly signal?: AbortSignal
}

async function send({ access, edge, wait_seconds, ...more }: Asked): Promise<HttpAnswer | null> {
  const headers = { ...access.headers, prefer: `wait=${wait_seconds}` }
  const path = `/${access.base_url}/charges`
  const one = { to: edge.url, connections, method: 'POST', path, headers, ...more }
  return await call({ limit_ms: LIMIT_MS, ...one }).catch(() => null)
}

/** The outcome that is expected, and what ends the wait. */
type Way = readonly [
  wanted: string,
  end: (request_id: string, asked: Asked) => unknown,
  more?: Partial<Asked> & { readonly approval?: object },
]

function outcomeOf(answer: HttpAnswer | null): string {
  return answer === null ? 'left' : `${answer.status} ${answer.header('x-agw-reason') ?? ''}`
}

async function heldOf({ agent }: Access): Promise<number> {
  return await redis.zcard(REDIS_KEYS.heldCalls('org_default', agent.agent_id))
}

async function requestsOf({ agent }: Access): Promise<readonly { request_id: string }[]> {
  const path = `/admin/access-requests?agent_id=${agent.agent_id}&limit=200`
  return (await operator.send('GET', path)).data
}

async function decide(request_id: string, what: string): Promise<void> {
  await operator.send('POST', `/admin/access-requests/${request_id}/${what}`)
}

/** @param approval null: none is needed */
async function makeAccess(name: string, approval: object | null = {}): Promise<Access> {
  const asking = approval === null ? {} : { approval }
  const rules = [{ methods: ['*'], paths: ['/**'], ...asking }]
  return await operator.makeAccess(`${upstream.origin}/${name}`, { rules })
}

/** Waits begin at once, and end in all ways after as long. */
async function endHolds(): Promise<void> {
  const decided = (what: string) => (request_id: string) => decide(request_id, what)
  const leaving = new AbortController()
  const nothing = (): Promise<void> => Promise.resolve()
  const large = 'x'.repeat(LARGE_BYTES)
  const ways: Record<string, Way> = {
    approve: ['200 ', decided('approve')],
    'approve, 5 MB': ['200 ', decided('approve'), { body: large }],
    deny: ['403 approval_denied', decided('deny')],
    withdraw: ['403 approval_expired', decided('cancel')],
    'request expires': ['403 approval_expired', nothing, { approval: { valid_seconds: seconds } }],
    'wait is over': ['403 approval_required', nothing, { wait_seconds: seconds }],
    'caller leaves': ['left', () => leaving.abort(), { signal: leaving.signal }],
    kill: [
      '503 agent_killed',
      (_id, { access }) => operator.send('POST', `/admin/agents/${access.agent.agent_id}/kill`),
    ],
    'edge is drained': ['403 approval_required', () => drains.signal('SIGTERM'), { edge: drains }],
  }
  const waits = await Promise.all(
    Object.entries(ways).map(async ([way, [wanted, end, { approval, ...more } = {}]]) => {
      const name = way.replaceAll(/\W/g, '')
      const access = await makeAccess(name, approval)
      const asked = { access, edge: stays, wait_seconds: LONGEST, body: 'amount=5', ...more }
      return { way, name, wanted, end, asked }
    }),
  )
  const begun = await Promise.all(
    waits.map(async (one) => {
      const begun_ms = performance.now()
      const answering = send(one.asked)
      await until(`${one.way}: held`, async () => (await heldOf(one.asked.access)) === 1)
      const [{ request_id } = { request_id: '' }] = await requestsOf(one.asked.access)
      return { ...one, answering, begun_ms, request_id }
    }),
  )
  const restarted = restartAdmin()
  const running = begun.map(async ({ way, name, wanted, end, asked, answering, ...one }) => {
    if (end !== nothing) await Promise.all([wait(seconds * 1000), restarted])
    const ended_ms = end === nothing ? one.begun_ms : performance.now()
    await end(one.request_id, asked)
    const outcome = outcomeOf(await answering)
    const took_ms = performance.now() - ended_ms
    await until(`${way}: held no more`, async () => (await heldOf(asked.access)) === 0)
    const reached = upstream.begun.filter(({ path }) => path.includes(`/${name}/`)).length
    const isRight = outcome === wanted && reached === (wanted === '200 ' ? 1 : 0)
    if (!isRight) faults++
    const after = end === nothing ? 'after it began' : 'later'
    say(
      `${isRight ? '' : 'FAULT: '}${way}: ${outcome} ${took_ms.toFixed(0)} ms ${after}, ${reached} reached the API`,
    )
  })
  await Promise.all(running)
}

async function restartAdmin(): Promise<void> {
  await admin.kill()
  const { url, token } = await fleet.restartAdmin()
  operator = operatorAt(url, token)
  say('admin killed with -9 and started again while all waited')
}

interface Calls {
  readonly name: string
  /** kB of the body of each. */
  readonly body_kb?: number
  readonly proxy: Pick<KitEnvoy, 'pid' | 'admin'>
  /** Answered at once, or when `end` is called. */
  readonly send: (connections: Agent, isLong: boolean) => Promise<HttpAnswer | null>[]
  readonly areThere: () => Promise<unknown>
  readonly end: () => unknown
}

/** What `count` calls cost at once, beside their bodies: what Envoy has allocated for them, the heap of ext-proc, and what is in memory. */
async function measureMemory({ name, body_kb = 0, proxy, send, areThere, end }: Calls) {
  const look = async (): Promise<readonly number[]> => {
    await wait(SETTLE_MS)
    const { allocated } = JSON.parse(await proxy.admin('/memory'))
    return [Number(allocated), residentBytes(proxy.pid), await heap.usedAfterCollection()]
  }
  const open = (): Agent => new Agent({ keepAlive: true, maxSockets: 2_000, maxFreeSockets: 2_000 })
  // All that is warm later is warm.
  const first = open()
  await Promise.all(send(first, false))
  first.destroy()
  const before = await look()
  const connections = open()
  const { length } = await Promise.all(send(connections, false))
  const connected = await look()
  const answering = send(connections, true)
  await areThere()
  const during = await look()
  const [envoy, resident, edge] = during.map((one) => one / length / 1000)
  const each = (of: readonly number[], i: number): number => (of[i] ?? 0) / length / 1000
  const kb = (one = 0): string => one.toFixed(1)
  say(
    `${length} ${name}: kB each: open connections ${kb(each(connected, 0) - each(before, 0))}, Envoy ${kb((envoy ?? 0) - each(connected, 0) - body_kb)}, ext-proc ${kb((edge ?? 0) - each(connected, 2))}; in memory of Envoy with the connections ${kb((resident ?? 0) - each(before, 1) - body_kb)}`,
  )
  await end()
  const passed = (await Promise.all(answering)).filter((answer) => answer?.status === 200).length
  connections.destroy()
  return passed
}

/** Calls of several agents that wait at once, then all approved; next to calls to an API that is slow, without the gateway and by it. */
async function compareMemory(count: number): Promise<void> {
  const [proxy] = fleet.envoys
  if (proxy === undefined) throw new Error('there is no Envoy')
  const agents = count / HELD_OF_AGENT
  const makeAll = (name: string, approval?: object | null): Promise<Access[]> =>
    Promise.all(Array.from({ length: agents }, (_, i) => makeAccess(`${name}-${i}`, approval)))
  const callsOf = (accesses: readonly Access[], one: (access: Access, i: number) => HttpCall) =>
    accesses.flatMap((access, at) =>
      Array.from({ length: HELD_OF_AGENT }, (_, i) =>
        call({ limit_ms: LIMIT_MS, ...one(access, at * HELD_OF_AGENT + i) }).catch(() => null),
      ),
    )
  const slow = await makeAll('slow', null)
  const plain = await startPlainEnvoy(Number(new URL(upstream.origin).port))
  for (const [name, at, isGateway] of [
    ['calls in flight, plain Envoy', plain, false],
    ['calls in flight, the gateway', proxy, true],
  ] as const) {
    let calls: Agent | null = null
    const from = upstream.begun.length
    await measureMemory({
      name,
      proxy: at,
      send: (connections, isLong) => {
        calls = connections
        return callsOf(slow, ({ base_url, headers }) => {
          const path = `${isGateway ? `/${base_url}` : ''}/${isLong ? 'wait' : 'now'}`
          return { to: `http://127.0.0.1:${at.port}`, connections, path, headers }
        })
      },
      areThere: () => until('all are in flight', () => upstream.begun.length - from === 3 * count),
      end: () => calls?.destroy(),
    })
  }
  await plain.stop()
  for (const [name, bytes, http_version] of [
    ['held', 0, '1.1'],
    ['held, bodies of 10 kB', 10_000, '1.1'],
    ['held, HTTP/2', 0, '2'],
  ] as const) {
    const accesses = await makeAll(`held-${bytes}-${http_version}`)
    const from = upstream.begun.length
    const passed = await measureMemory({
      name,
      body_kb: bytes / 1000,
      proxy,
      send: (connections, isLong) =>
        callsOf(accesses, ({ base_url, headers }, i) => ({
          // A connection of HTTP/2 for each agent.
          to: `${stays.url}/?${Math.floor(i / HELD_OF_AGENT)}`,
          connections,
          http_version,
          path: `/${base_url}/charges?call=${i}`,
          headers: isLong ? { ...headers, prefer: `wait=${LONGEST}` } : headers,
          ...(bytes > 0 ? { method: 'POST', body: ''.padEnd(bytes, '.') } : {}),
        })),
      areThere: () =>
        until('all are held', async () => {
          const held = await Promise.all(accesses.map(heldOf))
          return held.every((one) => one === HELD_OF_AGENT)
        }),
      end: async () => {
        for (const access of accesses)
          for (const { request_id } of await requestsOf(access)) await decide(request_id, 'approve')
      },
    })
    const reached = upstream.begun.length - from
    if (passed !== count || reached !== count) faults++
    say(`  approved: ${passed} passed, ${reached} reached the API`)
  }
}

/** In a scope of one rule; with a rule for other calls before it; and with that rule asking for approvals. The order changes with each round. */
async function compareCost(rounds: number): Promise<void> {
  const { load, upstream_port, stop } = await startLoad()
  const kinds = [GET_UNCHECKED, POST_ALL_ON].map((row) => [
    { ...row },
    { ...row, asks: false },
    { ...row, asks: true },
  ])
  const product = await startProduct('none', fromRoot(), upstream_port, kinds.flat())
  for (const rows of kinds) {
    const [row = GET_UNCHECKED] = rows
    const names = ['one rule', 'two rules', 'two rules, one asks']
    const subjects = rows.map((of, i) => ({
      ...product,
      name: names[i] ?? '',
      headersOf: () => product.headersOf(of),
    }))
    const samples = await measureCpu(subjects, row, { load, rounds, calls: CALLS })
    say(`${row.name}: CPU µs a call (${ROLES.join(', ')}), medians of ${rounds} rounds of ${CALLS}`)
    const all = names.map((name) => samples.get(name) ?? [])
    for (const [i, name] of names.entries())
      say(`  ${name}: ${ROLES.map((role) => medianOf(all[i], role).toFixed(1)).join(', ')}`)
    for (const role of ['ext-proc', 'whole'] as const) {
      const ratios = (all[1] ?? [])
        .map((one, i) => (all[2]?.[i]?.[role] ?? 0) / (one[role] ?? 1))
        .sort((a, b) => a - b)
      const at = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3))
      say(
        `  two rules, one asks × two rules, ${role}: median ${at[1]}, quartiles ${at[0]} to ${at[2]}`,
      )
    }
  }
  await product.stop()
  stop()
}
