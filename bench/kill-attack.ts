import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { existsSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { startStack } from '../test/kit/start-stack.ts'
import type { Flood } from './kill-attack-flood.ts'

/**
 * `npm run bench -- kill-attack [--kills 100] [--scopes 60] [--only FLOOD] [--callers-niceness 0]
 * [--product DIR]`: how long an operator waits for the receipt of a
 * kill while another organization floods the gateway, with each flood alone and with all at once. The agent that is killed
 * has a stream in flight each time. `--product` measures another built source tree.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    scopes: { type: 'string', default: '60' },
    only: { type: 'string' },
    'callers-niceness': { type: 'string', default: '0' },
    product: { type: 'string' },
  },
})
const kills = Number(values.kills)

/** The floods run for this long before the first kill. */
const RAMP_MS = 2_000
const PAUSE_MS = 50
const RULES = 100
const PATHS = 100
const AT_ONCE = 16
const MIB = 1 << 20

/**
 * The callers and the API would be other machines. Here they share the cores of the gateway, each in a session of its own as the
 * gateway's processes are, since Linux may share the cores among sessions first. With a niceness they take what the gateway
 * leaves, as if they had cores of their own, but send less.
 */
const startElsewhere = (file: string): ChildProcess => {
  const child = fork(fromRoot('dist', file), { detached: true })
  const { pid } = child
  const niceness = Number(values['callers-niceness'])
  if (pid === undefined || niceness === 0) return child
  setPriority(pid, niceness)
  const group = `/proc/${pid}/autogroup`
  if (existsSync(group)) writeFileSync(group, String(niceness))
  return child
}

const upstream = startElsewhere('bench/upstream.js')
const [{ port }] = (await once(upstream, 'message')) as [{ port: number }]
const api = `http://127.0.0.1:${port}`
const stack = await startStack(
  { AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8', AGW_EXT_PROC_WORKERS: '2' },
  values.product,
)
const operator = operatorAt(stack.apiUrl, stack.adminToken)
const victim = await operator.makeAccess(`${api}/victim`)

const other = await operator.send('POST', '/admin/organizations', { name: 'other' })
const attacker = operatorAt(stack.apiUrl, other.admin_token ?? other.token)
const access = await attacker.makeAccess(`${api}/other`, {
  scope: { injection_detection: { enabled: true, mode: 'log' } },
})
const viewer = await attacker.send('POST', '/admin/tokens', {
  email: 'v@example.com',
  role: 'viewer',
})

/** Rules that are all looked through, since the path that is asked for differs in its last segment. */
const rulesOf = (scope: number): readonly object[] =>
  Array.from({ length: RULES }, (_, rule) => ({
    methods: ['GET'],
    paths: Array.from({ length: PATHS }, (_none, i) => `/**/a/**/b/**/${scope}-${rule}-${i}`),
  }))
let saved = 0
let refused = ''
// As large as a scope of 0.1 may be, and where those are refused, as large as one may be now.
for (const rules of [80, 10])
  for (let i = 0; i < Number(values.scopes) && (rules === 80 || saved < 5); i++) {
    const body = {
      name: `big ${rules} ${i}`,
      agent_id: access.agent.agent_id,
      integration_id: access.integration.integration_id,
      rules: rulesOf(i).slice(0, rules),
    }
    const isSaved = await attacker.send('POST', '/admin/scopes', body).then(
      () => true,
      (error: Error) => {
        refused ||= error.message.slice(0, 200)
        return false
      },
    )
    if (!isSaved) break
    saved++
  }
process.stdout.write(`${saved} big scopes were accepted. ${refused}\n`)

const json = { 'content-type': 'application/json' }
const deep = `${access.base_url}/${'a/b/'.repeat(50)}z`
const FLOODS: Readonly<Record<string, Flood>> = {
  explain: {
    to: stack.apiUrl,
    method: 'POST',
    path: '/admin/explain',
    headers: { authorization: `Bearer ${viewer.token}`, ...json },
    body: JSON.stringify({ agent_id: access.agent.agent_id, method: 'GET', url: deep }),
    at_once: AT_ONCE,
  },
  'calls against big scopes': {
    to: stack.proxyUrl,
    method: 'GET',
    path: `/${deep}`,
    headers: access.headers,
    body: '',
    at_once: AT_ONCE,
  },
  'large bodies': {
    to: stack.proxyUrl,
    method: 'POST',
    path: `/${access.base_url}/body`,
    headers: { ...access.headers, ...json },
    body: JSON.stringify({ text: 'The river rose by half a metre. '.repeat(MIB / 32) }),
    at_once: AT_ONCE,
  },
  'sign-ins': {
    to: stack.apiUrl,
    method: 'GET',
    path: '/admin/agents',
    headers: { authorization: `Bearer ${'wrong-token-'.repeat(4)}` },
    body: '',
    at_once: AT_ONCE,
  },
  'lists of big scopes': {
    to: stack.apiUrl,
    method: 'GET',
    path: `/admin/scopes?agent_id=${access.agent.agent_id}&limit=100`,
    headers: { authorization: `Bearer ${viewer.token}` },
    body: '',
    at_once: AT_ONCE,
  },
}

const connection = new Agent({ keepAlive: true, maxSockets: 1 })
type Receipt = { readonly complete: boolean; readonly propagation_ms: number }
const operate = (path: string, body: object): Promise<Receipt> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(stack.apiUrl)
    const text = JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${stack.adminToken}`,
      'content-length': String(text.length),
      ...json,
    }
    const options = { hostname, port, path, method: 'POST', agent: connection, headers }
    const call = request(options, (answer) => {
      let whole = ''
      answer.setEncoding('utf8').on('data', (part: string) => (whole += part))
      answer.once('end', () =>
        answer.statusCode === 200
          ? resolve(JSON.parse(whole) as Receipt)
          : reject(new Error(whole)),
      )
    })
    call.once('error', reject)
    call.end(text)
  })

/** Opens a stream of the agent that is killed next; null if it was refused. */
const openStream = (): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(stack.proxyUrl)
    const path = `/${victim.base_url}/open`
    const call = request(
      { hostname, port, path, agent: false, headers: victim.headers },
      (answer) => {
        answer.on('error', () => undefined)
        answer.once('data', () => resolve(true))
        answer.once('close', () => resolve(false))
        answer.resume()
      },
    )
    call.once('error', () => resolve(false))
    call.end()
  })

const quantile = (sorted: readonly number[], part: number): string =>
  (sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN).toFixed(0)

const summary = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b)
  return `p50 ${quantile(sorted, 0.5)}  p99 ${quantile(sorted, 0.99)}  max ${quantile(sorted, 1)} ms`
}

async function measure(name: string, floods: readonly Flood[]): Promise<void> {
  const children: ChildProcess[] = floods.map((flood) => {
    const child = startElsewhere('bench/kill-attack-flood.js')
    child.send(flood)
    return child
  })
  await wait(floods.length === 0 ? 0 : RAMP_MS)
  const times: number[] = []
  const propagations: number[] = []
  let incomplete = 0
  let failed = 0
  let streams = 0
  const agent = `/admin/agents/${victim.agent.agent_id}`
  for (let i = 0; i < kills; i++) {
    if (await Promise.race([openStream(), wait(5_000, false)])) streams++
    const from_ms = performance.now()
    const receipt = await operate(`${agent}/kill`, { reason: 'bench' }).catch(() => null)
    times.push(performance.now() - from_ms)
    if (receipt !== null) propagations.push(receipt.propagation_ms)
    if (receipt === null) failed++
    else if (!receipt.complete) incomplete++
    await operate(`${agent}/reactivate`, { reason: 'bench' }).catch(() => null)
    await wait(PAUSE_MS)
  }
  const answers: Record<string, number>[] = []
  for (const child of children) {
    child.send('report')
    const [statuses] = (await once(child, 'message')) as [Record<string, number>]
    answers.push(statuses)
    child.kill('SIGKILL')
  }
  process.stdout.write(
    `${name.padEnd(26)} receipt ${summary(times)}; from publish to the last edge ${summary(propagations)}; ` +
      `${streams} of ${kills} streams opened, ${incomplete} receipts incomplete, ${failed} failed; flood ${JSON.stringify(answers)}\n`,
  )
}

const { only } = values
await measure('quiet', [])
for (const [name, flood] of Object.entries(FLOODS)) {
  if (only !== undefined && only !== name) continue
  await measure(name, [flood])
  // What a flood has left behind is worked off first.
  await stack.ready()
}
if (only === undefined || only === 'all at once')
  await measure('all at once', Object.values(FLOODS))
connection.destroy()
await stack.stop()
upstream.kill('SIGKILL')
process.exit(0)
