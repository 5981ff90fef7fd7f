import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { startStack } from '../test/kit/start-stack.ts'
import type { Flood } from './kill-attack-flood.ts'
import { quantile } from './quantile.ts'

/**
 * `npm run bench -- stall [--seconds 5] [--rounds 3] [--only ATTACK]`: what one organization notices while another one, or a
 * stranger, sends texts that are made to be expensive, 20 a second: the latency of its calls, its streams, and how long its kills
 * take. Rounds without the attack, with as many ordinary calls of the same size, and with the attack take turns, since the load of the
 * machine changes. Fails if the median of its p99 is more than twice that without an attack, a stream is cut, or a kill is not complete.
 * The programs that send the attacks run on the same cores, so that what they use themselves counts too: as much as the ordinary calls
 * show.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const ATTEMPTS_A_SECOND = 20
const STREAMS = 8
const PAUSE_MS = 10
const KILL_EVERY_MS = 500

const upstream = fork(fromRoot('dist/bench/upstream.js'), { detached: true })
const [{ port }] = (await once(upstream, 'message')) as [{ port: number }]
const api = `http://127.0.0.1:${port}`
const stack = await startStack({
  AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  AGW_EXT_PROC_WORKERS: '2',
})
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const [caller, killed] = [
  await operator.makeAccess(`${api}/caller`),
  await operator.makeAccess(`${api}/killed`),
]
const other = await operator.send('POST', '/admin/organizations', { name: 'other' })
const attacker = operatorAt(stack.apiUrl, other.admin_token ?? other.token)
const access = await attacker.makeAccess(`${api}/other`, {
  scope: {
    injection_detection: { enabled: true, mode: 'log' },
    mcp_tools: { allow: ['*'], deny: ['delete_*'] },
  },
})
const viewer = await attacker.send('POST', '/admin/tokens', {
  email: 'v@example.com',
  role: 'viewer',
})

const MARKS = '\u0301\u0323'
const flood = (to: string, path: string, headers: object, body = ''): Flood => ({
  to,
  method: body === '' ? 'GET' : 'POST',
  path,
  headers: headers as Flood['headers'],
  body,
  at_once: 1,
  a_second: ATTEMPTS_A_SECOND,
})
const json = { 'content-type': 'application/json' }

/** Calls that consist of this text, as long as two marks are. */
const floodsOf = (text: string): Readonly<Record<string, Flood>> => ({
  'A1 path, without a key': flood(
    stack.proxyUrl,
    `/https://api.example.com/e${text === MARKS ? encodeURIComponent(MARKS.repeat(1_300)) : 'e'.repeat(15_600)}`,
    {},
  ),
  'A1 tool name of 512 kB': flood(
    stack.proxyUrl,
    `/${access.base_url}/mcp`,
    { ...access.headers, ...json },
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: `e${text.repeat(128_000)}` },
    }),
  ),
  'A2 headers of an API': flood(
    stack.proxyUrl,
    `/${access.base_url}/${text === MARKS ? 'marks' : 'x'}`,
    access.headers,
  ),
  'A3 form of 300 kB': flood(
    stack.proxyUrl,
    `/${access.base_url}/form`,
    { ...access.headers, 'content-type': 'application/x-www-form-urlencoded' },
    `method=e${text.repeat(75_000)}`,
  ),
  'A4 patterns of a viewer': flood(
    stack.apiUrl,
    '/admin/scan',
    { authorization: `Bearer ${viewer.token}`, ...json },
    JSON.stringify({
      body: 'x',
      injection_detection: {
        custom_patterns: Array.from({ length: 100 }, (_, i) =>
          text === MARKS ? `x${i}\\p{L}{99}\\PN{99}` : `x${i}${text.repeat(4)}`,
        ),
      },
    }),
  ),
})
const ATTACKS = floodsOf(MARKS)
const ORDINARY = floodsOf('eeee')

const connection = new Agent({ keepAlive: true, maxSockets: 2 })
const call = (path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port: to } = new URL(stack.proxyUrl)
    const asked = request({ hostname, port: to, path, headers, agent: connection }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    asked.once('error', () => resolve(0))
    asked.end()
  })

/** Open streams, and how many of them have ended. */
function openStream(
  headers: Record<string, string>,
  base_url: string,
  onEnd: () => void,
): Promise<() => void> {
  return new Promise((resolve) => {
    const { hostname, port: to } = new URL(stack.proxyUrl)
    const asked = request(
      { hostname, port: to, path: `/${base_url}/open`, headers, agent: false },
      (response) => {
        response.on('error', () => undefined)
        response.once('data', () => resolve(() => asked.destroy()))
        response.once('close', onEnd)
        response.resume()
      },
    )
    asked.once('error', () => resolve(() => undefined))
    asked.end()
  })
}

interface Noticed {
  readonly p99_ms: number
  readonly failed: number
  readonly cut: number
  readonly incomplete: number
}

async function measure(name: string, floods: readonly Flood[]): Promise<Noticed> {
  const children: ChildProcess[] = floods.map((one) => {
    const child = fork(fromRoot('dist/bench/kill-attack-flood.js'), { detached: true })
    child.send(one)
    return child
  })
  let [cut, failed, incomplete, isOver] = [0, 0, 0, false]
  const onEnd = (): void => {
    if (!isOver) cut++
  }
  const open = await Promise.all(
    Array.from({ length: STREAMS }, () => openStream(caller.headers, caller.base_url, onEnd)),
  )
  const ends_ms = performance.now() + seconds * 1_000
  const times: number[] = []
  const calling = async (): Promise<void> => {
    while (performance.now() < ends_ms) {
      const from_ms = performance.now()
      if ((await call(`/${caller.base_url}/x`, caller.headers)) !== 200) failed++
      times.push(performance.now() - from_ms)
      await wait(PAUSE_MS)
    }
  }
  const kills: number[] = []
  const agent = `/admin/agents/${killed.agent.agent_id}`
  const killing = async (): Promise<void> => {
    while (performance.now() < ends_ms) {
      const close = await openStream(killed.headers, killed.base_url, () => undefined)
      const from_ms = performance.now()
      const receipt = await operator.send('POST', `${agent}/kill`, {}).catch(() => null)
      kills.push(performance.now() - from_ms)
      if (receipt?.complete !== true) incomplete++
      close()
      await operator.send('POST', `${agent}/reactivate`, { reason: 'bench' }).catch(() => null)
      await wait(KILL_EVERY_MS)
    }
  }
  await Promise.all([calling(), killing()])
  isOver = true
  for (const close of open) close()
  const answers: Record<string, number>[] = []
  for (const child of children) {
    child.send('report')
    const [statuses] = (await once(child, 'message')) as [Record<string, number>]
    answers.push(statuses)
    child.kill('SIGKILL')
  }
  const sorted = times.toSorted((a, b) => a - b)
  const killTimes = kills.toSorted((a, b) => a - b)
  const p99_ms = quantile(sorted, 0.99)
  console.log(
    `${name.padEnd(26)} calls p50 ${quantile(sorted, 0.5).toFixed(1)} p99 ${p99_ms.toFixed(1)} max ${quantile(sorted, 1).toFixed(0)} ms, ${failed} of ${times.length} failed; ` +
      `${cut} of ${STREAMS} streams cut; kills p50 ${quantile(killTimes, 0.5).toFixed(0)} max ${quantile(killTimes, 1).toFixed(0)} ms, ${incomplete} of ${kills.length} incomplete; ${answers.map((one) => JSON.stringify(one)).join(' ')}`,
  )
  return { p99_ms, failed, cut, incomplete }
}

const p99Of = (all: readonly Noticed[]): number =>
  quantile(
    all.map(({ p99_ms }) => p99_ms).toSorted((a, b) => a - b),
    0.5,
  )

/** Whether an attack is noticed. */
async function compare(name: string, keys: readonly string[]): Promise<boolean> {
  const of = (all: typeof ATTACKS): Flood[] => keys.flatMap((key) => all[key] ?? [])
  const quiet: Noticed[] = []
  const ordinary: Noticed[] = []
  const attacked: Noticed[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(await measure('no attack', []))
    ordinary.push(await measure('ordinary calls', of(ORDINARY)))
    attacked.push(await measure(name, of(ATTACKS)))
  }
  const lost = attacked.reduce((sum, one) => sum + one.failed + one.cut + one.incomplete, 0)
  const [before_ms, beside_ms, during_ms] = [quiet, ordinary, attacked].map(p99Of) as [
    number,
    number,
    number,
  ]
  console.log(
    `${name}: median p99 ${during_ms.toFixed(1)} ms, without ${before_ms.toFixed(1)} ms: ${(during_ms / before_ms).toFixed(2)} times; beside ordinary calls ${beside_ms.toFixed(1)} ms: ${(beside_ms / before_ms).toFixed(2)} times; ${lost} calls, streams and kills lost`,
  )
  return during_ms > 2 * before_ms || lost > 0
}

const { only } = values
await measure('warm-up', [])
const names = Object.keys(ATTACKS)
const rows: [string, readonly string[]][] = [
  ...names.map((name): [string, string[]] => [name, [name]]),
  ['all at once', names],
]
const tried = rows.filter(([name]) => only === undefined || name.startsWith(only))
let bad = 0
for (const [name, keys] of tried) if (await compare(name, keys)) bad++
console.log(bad === 0 ? 'nothing stalls' : `${bad} of ${tried.length} attacks are noticed`)
connection.destroy()
await stack.stop()
upstream.kill('SIGKILL')
process.exit(bad === 0 ? 0 : 1)
