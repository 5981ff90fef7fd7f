import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { call, type HttpAnswer } from '../test/kit/call.ts'
import { type Access, operatorAt } from '../test/kit/operator.ts'
import { type FleetEdge, startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'
import { fromRoot } from '../core/system/root.ts'
import { measureCpu, medianOf } from './measure-cpu.ts'
import { quantile } from './quantile.ts'
import { residentBytes } from './resident-bytes.ts'
import { GET_UNCHECKED, POST_ALL_ON } from './rows.ts'
import { startLoad } from './start-load.ts'
import { ROLES, startProduct } from './subjects.ts'

/**
 * `npm run bench -- holds [--seconds 55] [--held 1000] [--rounds 15]`: calls that wait for a decision, each ended in another way after
 * `--seconds`; the memory that `--held` of them at once cost; and the CPU time of calls that need no approval, in a scope that asks for
 * one elsewhere next to a scope that does not. The exit code is 1 if a wait does not end as it should.
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
const LARGE_BYTES = 5_000_000
const SETTLE_MS = 4_000
const CALLS = 4_000
let faults = 0

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const connections = new Agent({ keepAlive: true, maxSockets: 2_000 })
const fleet = await startFleet({
  edges: [{}, {}],
  envoys: 'each',
  env: { AGW_KILL_LEASE_MS: '15000' },
})
const { upstream, edges, redis, admin } = fleet
let { operator } = fleet
const [stays, drains] = edges as [FleetEdge, FleetEdge]

try {
  await endHolds()
  for (const bytes of [0, 10_000]) await holdMany(Math.min(Number(values.held), 1_000), bytes)
} finally {
  connections.destroy()
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
  const limit_ms = (LONGEST + 30) * 1000
  const one = { to: edge.url, connections, method: 'POST', path, headers, limit_ms, ...more }
  return await call(one).catch(() => null)
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

async function makeAccess(name: string, approval: object = {}): Promise<Access> {
  const rules = [{ methods: ['*'], paths: ['/**'], approval }]
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

/** Calls of several agents that wait at once, then all approved. */
async function holdMany(count: number, bytes: number): Promise<void> {
  const accesses = await Promise.all(
    Array.from({ length: count / HELD_OF_AGENT }, (_, i) => makeAccess(`many-${bytes}-${i}`)),
  )
  const envoy = fleet.envoys[0]?.pid ?? 0
  const begin = (access: Access, wait_seconds: number): Promise<HttpAnswer | null>[] =>
    Array.from({ length: HELD_OF_AGENT }, (_, i) =>
      send({ access, edge: stays, wait_seconds, body: String(i).padEnd(bytes, '.') }),
    )
  // The requests are made, and all that is warm later is warm.
  for (const access of accesses) {
    const asked = await Promise.all(begin(access, 0))
    const [other] = asked.filter((answer) => answer?.status !== 403)
    if (other !== undefined) say(`not asked for: ${outcomeOf(other)}`)
  }
  const resident = async (): Promise<readonly number[]> => {
    await wait(SETTLE_MS)
    return [stays.pid(), envoy].map(residentBytes)
  }
  const before = await resident()
  const answering: Promise<HttpAnswer | null>[] = []
  for (const access of accesses) {
    answering.push(...begin(access, LONGEST))
    await until('all are held', async () => (await heldOf(access)) === HELD_OF_AGENT)
  }
  const during = await resident()
  const [edge, proxy] = during.map(
    (one, i) => (one - (before[i] ?? 0)) / count / 1000 - bytes / 1000,
  )
  const from = upstream.begun.length
  for (const access of accesses)
    await Promise.all(
      (await requestsOf(access)).map(({ request_id }) => decide(request_id, 'approve')),
    )
  const passed = (await Promise.all(answering)).filter((answer) => answer?.status === 200).length
  const reached = upstream.begun.length - from
  if (passed !== count || reached !== count) faults++
  say(
    `${count} held at once, bodies of ${bytes} B: kB a hold beside the body: ext-proc ${edge?.toFixed(1)}, Envoy ${proxy?.toFixed(1)}; approved: ${passed} passed, ${reached} reached the API`,
  )
}

/** The scope asks for approvals of other calls, or of none. The order of the two changes with each round. */
async function compareCost(rounds: number): Promise<void> {
  const { load, upstream_port, stop } = await startLoad()
  const pairs = [GET_UNCHECKED, POST_ALL_ON].map((row) => [row, { ...row, asks: true }] as const)
  const product = await startProduct('none', fromRoot(), upstream_port, pairs.flat())
  for (const [row, asking] of pairs) {
    const subjects = [
      product,
      { ...product, name: 'asks', headersOf: () => product.headersOf(asking) },
    ]
    const samples = await measureCpu(subjects, row, { load, rounds, calls: CALLS })
    const [none = [], asks = []] = subjects.map(({ name }) => samples.get(name))
    const us = [none, asks].map((all) =>
      ROLES.map((role) => medianOf(all, role).toFixed(1)).join(', '),
    )
    const ratios = none
      .map((one, i) => (asks[i]?.['ext-proc'] ?? 0) / (one['ext-proc'] ?? 1))
      .sort((a, b) => a - b)
    const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3))
    say(
      `${row.name}: CPU of ext-proc in a scope that asks elsewhere × in one that does not: median ${median}, quartiles ${low} to ${high}, of ${rounds} pairs of ${CALLS} calls; µs (${ROLES.join(', ')}): ${us.join(' and ')}`,
    )
  }
  await product.stop()
  stop()
}
