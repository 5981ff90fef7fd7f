import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { sha256 } from '../core/approval/multipart-parts.ts'
import { call, type HttpAnswer, type HttpCall } from '../test/kit/call.ts'
import { ForwardClient } from '../test/kit/forward-client.ts'
import type { Access, MadeIntegration, Operator } from '../test/kit/operator.ts'
import { SeededRandom } from '../test/kit/seeded-random.ts'
import { startAll, stopAll } from '../test/kit/shared-stack.ts'
import { type Fleet, startFleet } from '../test/kit/start-fleet.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- approvals [--runs 20] [--repeats 200] [--at-once 1] [--races 50] [--bodies 200] [--seed N]`, on one Envoy with four edges:
 * repetitions of one approved call at once, without a fault and while one edge is killed with -9, of `--at-once` approvals; approvals that race kills, for calls
 * that wait and calls that are repeated; and approved calls with bodies of 0 B to 5 MB, by base URL and through the forward proxy,
 * whose digest is computed again from what the API received. The exit code is 1 if anything is not as docs/guides/approvals.md says.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    repeats: { type: 'string', default: '200' },
    'at-once': { type: 'string', default: '1' },
    races: { type: 'string', default: '50' },
    bodies: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const repeats = Math.min(Number(values.repeats), 1_000)
const random = new SeededRandom(Number(values.seed))
const EDGES = 4
/** From the first repetition to the death of an edge, at most; the burst is over by then. */
const DEATH_MAX_MS = 400
/** From the start of a race to each, at most: a kill that comes at once always wins. */
const APPROVE_MAX_MS = 30
const KILL_MAX_MS = 500
const RACING_CALLS = 8
const AFTER_KILL_CALLS = 8
const BODY_MAX_BYTES = 5_000_000
const REPORTED_RUNS = 10
const REPORTED_RACES = 100
const HEALTHY = '/stats?filter=cluster.ext_proc.membership_healthy'
let faults = 0
let integration: Promise<MadeIntegration> | null = null

interface Approval {
  readonly request_id: string
  readonly digest: string
  readonly body_sha256: string
  readonly was_sent?: boolean
}
interface Entry {
  readonly reason: string | null
  readonly data: { readonly approval?: Approval; readonly used?: { readonly request_id: string } }
}
interface Shown {
  readonly call: Record<
    'digest' | 'policy_sha256' | 'integration_id' | 'integration_sha256',
    string
  >
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
function expect(isTrue: boolean, what: string): void {
  if (isTrue) return
  faults++
  say(`FAULT: ${what}`)
}
const tally = (names: readonly string[]): string => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ') || 'none'
}
const outcomeOf = (answer: HttpAnswer | null): string =>
  answer === null ? 'cut' : `${answer.status} ${answer.header('x-agw-reason') ?? ''}`.trimEnd()
const decide = (operator: Operator, request_id: string, what: string): Promise<Shown> =>
  operator.send('POST', `/admin/access-requests/${request_id}/${what}`)
const RULES = { rules: [{ methods: ['*'], paths: ['/**'], approval: {} }] }

say(`seed ${values.seed}`)
const connections = new Agent({ keepAlive: true, maxSockets: repeats })
const fleet = await startFleet({
  edges: Array.from({ length: EDGES }, () => ({})),
  // On a busy machine a process may get no CPU time for a second. No body is large: the processes that scan those need not start.
  env: { AGW_KILL_LEASE_MS: '15000', AGW_EDGE_STANDBY: 'true' },
})
try {
  await repeatAtOnce(fleet, 'no fault', 1)
  const killed = 'one edge killed with -9'
  await repeatAtOnce(fleet, killed, Math.min(Number(values.runs), 1_000), Number(values['at-once']))
  await raceKills(fleet, Math.min(Number(values.races), 10_000))
} finally {
  connections.destroy()
  await fleet.stop()
}
await compareBodies(Math.min(Number(values.bodies), 10_000))
say(faults === 0 ? 'no fault' : `${faults} faults`)
process.exit(faults === 0 ? 0 : 1)

function send(to: string, access: Access, more: Partial<HttpCall> = {}) {
  const path = `/${access.base_url}/charges`
  const headers = { ...access.headers, ...(more.headers as object) }
  const one = { to, connections, method: 'POST', path, body: 'amount=5', ...more, headers }
  return call(one).catch(() => null)
}

/** All have one integration: an organization has at most 1,000. */
async function makeAccess(operator: Operator, base_url: string): Promise<Access> {
  integration ??= operator.makeIntegration(new URL(base_url).origin)
  const { integration_id } = await integration
  const agent = await operator.makeAgent()
  const { scope_id } = await operator.makeScope(agent.agent_id, integration_id, RULES)
  const headers = { authorization: `Bearer ${agent.api_key}` }
  return { agent, integration: await integration, scope_id, base_url, headers }
}

/** A call that a person is asked for. */
async function request(to: string, access: Access): Promise<string> {
  const answer = await send(to, access)
  if (answer?.header('x-agw-reason') !== 'approval_required')
    throw new Error(`not asked for: ${outcomeOf(answer)}`)
  return String(answer.json().details.request_id)
}

/** @param of how many approvals, each repeated as often */
async function repeatAtOnce({ operator, ...rest }: Fleet, name: string, runs: number, of = 1) {
  const { upstream, envoys, edges } = rest
  const isKilling = name !== 'no fault'
  const to = envoys[0]?.url ?? ''
  const reached: string[] = []
  const outcomes: string[] = []
  const report = (run: number): void =>
    say(
      `${run * of} approvals, each ${repeats / of} times at once, ${name}: ${tally(reached)}; answers: ${tally(outcomes)}`,
    )
  for (let run = 1; run <= runs; run++) {
    await until('Envoy asks all edges', async () =>
      (await envoys[0]?.admin(HEALTHY))?.includes(`: ${EDGES}`),
    )
    const approved = await Promise.all(
      Array.from({ length: of }, async (_, i) => {
        const path = `/${name.length}-${run}-${i}`
        const access = await makeAccess(operator, `${upstream.origin}${path}`)
        const request_id = await request(to, access)
        await decide(operator, request_id, 'approve')
        return { access, request_id, path: `${path}/` }
      }),
    )
    const times = Math.floor(repeats / of)
    const sending = approved.map(({ access }) =>
      Promise.all(Array.from({ length: times }, () => send(to, access))),
    )
    const victim = edges[random.below(EDGES)]
    if (isKilling) {
      // More often early: the approval is taken within the first milliseconds.
      await wait(DEATH_MAX_MS * random.next() ** 4)
      victim?.signal('SIGKILL')
    }
    const answers = await Promise.all(sending)
    outcomes.push(...answers.flat().map(outcomeOf))
    for (const [i, { access, request_id, path }] of approved.entries()) {
      const count = upstream.begun.filter((one) => one.path.startsWith(path)).length
      reached.push(`${count} reached the API`)
      expect(count <= 1, `${request_id}: ${count} calls of one approval reached the API`)
      expect(isKilling || count === 1, `${request_id}: none reached the API`)
      await checkUsed(operator, to, access, request_id, answers[i] ?? [], count)
    }
    if (isKilling) {
      await victim?.exited()
      await victim?.restart()
    }
    if (run % REPORTED_RUNS === 0 || run === runs) report(run)
  }
}

/** What the log says of the approval: that its call was not sent only if it was not, and why if none was. */
async function checkUsed(
  operator: Operator,
  to: string,
  access: Access,
  request_id: string,
  answers: readonly (HttpAnswer | null)[],
  count: number,
): Promise<void> {
  const used = answers
    .filter((answer) => answer?.header('x-agw-reason') === 'approval_required')
    .map((answer) => answer?.json().details.used)
    .filter((one) => one?.request_id === request_id)
  expect(
    count === 0 || used.every(({ was_sent }) => was_sent !== false),
    `${request_id}: a repetition was answered that the call was not sent, but it was`,
  )
  if (count > 0) return
  // An approval that was not taken is still there for the next repetition. Envoy may not have noticed yet that the edge has died.
  const next = await until('an edge answers', async () => {
    const answer = await send(to, access)
    return answer !== null && answer.status < 500 && answer
  })
  const shown = await operator.send('GET', `/admin/access-requests/${request_id}`)
  if (next.status === 200)
    return say(`  ${request_id}: no repetition had taken it; the next passed`)
  expect(shown.consumed_at !== null, `${request_id}: refused, and not taken`)
  const path = `/admin/activity?agent_id=${access.agent.agent_id}&q=${request_id}&limit=200`
  const saysWhy = ({ data: { used, approval } }: Entry): boolean =>
    used?.request_id === request_id ||
    (approval?.request_id === request_id && approval.was_sent === false)
  const entry = await until('an entry says why', async () => {
    const { data }: { data: readonly Entry[] } = await operator.send('GET', path)
    return data.find(saysWhy)
  }).catch(() => null)
  expect(
    entry !== null,
    `${request_id}: no entry says why; ${outcomeOf(next)} ${JSON.stringify(shown)}`,
  )
  if (entry !== null)
    say(`  ${request_id}: taken, not sent; log: ${entry.reason} ${JSON.stringify(entry.data.used)}`)
}

/** An approval and a kill at once, while calls wait for it and others are repeated. */
async function raceKills({ operator, upstream, envoys }: Fleet, races: number): Promise<void> {
  const to = envoys[0]?.url ?? ''
  const won: string[] = []
  const outcomes: string[] = []
  for (let race = 0; race < races; race++) {
    const access = await makeAccess(operator, `${upstream.origin}/race-${race}`)
    const request_id = await request(to, access)
    const from = upstream.begun.length
    let isOver = false
    const repeat = async (isHeld: boolean): Promise<void> => {
      const more = isHeld ? { headers: { prefer: 'wait=20' } } : {}
      while (!isOver) outcomes.push(outcomeOf(await send(to, access, more)))
    }
    const racing = Array.from({ length: RACING_CALLS }, (_, i) => repeat(i % 2 === 0))
    await wait(50 + random.below(50))
    const approving = async (): Promise<string> => {
      await wait(random.below(APPROVE_MAX_MS))
      return decide(operator, request_id, 'approve').then(
        () => 'approved',
        () => 'void',
      )
    }
    const killing = async (): Promise<{ complete: boolean; at_ms: number }> => {
      await wait(random.below(KILL_MAX_MS))
      const { agent_id } = access.agent
      const { complete } = await operator.send('POST', `/admin/agents/${agent_id}/kill`)
      return { complete, at_ms: performance.now() }
    }
    const [approved, { complete, at_ms }] = await Promise.all([approving(), killing()])
    isOver = true
    await Promise.all(racing)
    const after = Array.from({ length: AFTER_KILL_CALLS }, () => send(to, access))
    for (const answer of await Promise.all(after))
      expect(answer?.status !== 200, `race ${race}: a call of the killed agent passed`)
    const calls = upstream.begun.slice(from)
    const late = calls.filter((one) => one.at_ms > at_ms).length
    expect(calls.length <= 1, `race ${race}: ${calls.length} calls of one approval`)
    expect(!complete || late === 0, `race ${race}: ${late} calls after a complete receipt`)
    if ((race + 1) % REPORTED_RACES === 0) say(`  ${race + 1} races: ${faults} faults`)
    won.push(
      `${approved}, ${complete ? 'complete' : 'incomplete'} receipt, ${calls.length} reached the API before it`,
    )
  }
  say(`${races} approvals racing kills: ${tally(won)}; answers: ${tally(outcomes)}`)
}

interface Sample {
  readonly kind: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly is_chunked: boolean
}

/** @param size about */
function sample(i: number, size: number): Sample {
  const text = randomBytes(Math.ceil(size / 2))
    .toString('hex')
    .slice(0, size)
  const is_chunked = Math.floor(i / 12) % 2 === 1
  const json = Buffer.from(JSON.stringify({ amount: i, text }))
  const boundary = `b${randomBytes(8).toString('hex')}`
  const form = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n--${boundary}--\r\n`
  const kinds: readonly (readonly [string, string, Buffer, string?])[] = [
    ['JSON', 'application/json', json],
    ['form', 'application/x-www-form-urlencoded', Buffer.from(`amount=${i}&text=${text}`)],
    ['multipart', `multipart/form-data; boundary=${boundary}`, Buffer.from(form)],
    ['gzip', 'application/json', gzipSync(json), 'gzip'],
    ['bytes', 'application/octet-stream', randomBytes(size)],
    ['empty', 'text/plain', Buffer.alloc(0)],
  ]
  const [kind, type, body, encoding] = kinds[i % kinds.length] ?? ['', '', json]
  const headers = {
    'content-type': type,
    'x-account': `acct-${i}`,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  }
  return { kind, headers, body, is_chunked }
}

/** As docs/guides/approvals.md describes it, for another program: from what the API received alone. */
function digestOf(
  received: { readonly method: string; readonly headers: readonly (readonly [string, string])[] },
  body: Buffer,
  url: string,
  agent_id: string,
  requested: Shown['call'],
): string {
  const left =
    /^(host|connection|transfer-encoding|authorization|accept-encoding|b3|baggage|content-length|date|idempotency-key|prefer|priority|sentry-trace|traceparent|tracestate|user-agent|via|x-amzn-trace-id|x-cloud-trace-context|x-b3-.*|x-datadog-.*|x-stainless-.*)$/
  const headers = received.headers
    .map(([name, value]) => [name.toLowerCase(), value] as [string, string])
    .filter(([name]) => !left.test(name))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const type = headers.find(([name]) => name === 'content-type')
  const boundary = /^multipart\/form-data; boundary=(.*)$/.exec(type?.[1] ?? '')?.[1]
  let shown: unknown = ['bytes', sha256(body)]
  if (boundary !== undefined && type !== undefined) {
    type[1] = type[1].slice(0, -boundary.length)
    const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1)
    const split = parts.map((part) => part.slice(2, -2).split(/\r\n\r\n(.*)/s))
    shown = [
      'multipart',
      split.map(([head, content = '']) => [head, sha256(Buffer.from(content, 'latin1'))]),
    ]
  }
  const { policy_sha256, integration_id, integration_sha256 } = requested
  const facts = ['agw-call-1', agent_id, policy_sha256, integration_id, integration_sha256, null]
  return `sha256:${sha256(JSON.stringify([...facts, received.method, url, headers, shown]))}`
}

async function approvalOf(operator: Operator, answer: HttpAnswer): Promise<Approval | undefined> {
  const id = answer.header('x-agw-request-id') ?? ''
  const entry = await until('the call is in the log', async () => {
    const { data }: { data: readonly Entry[] } = await operator.send(
      'GET',
      `/admin/activity?request_id=${id}`,
    )
    return data.find((one) => one.data.approval !== undefined)
  })
  return entry.data.approval
}

async function compareBodies(count: number): Promise<void> {
  const stack = await startAll({ AGW_KILL_LEASE_MS: '15000', AGW_EXT_PROC_WORKERS: '2' })
  const { operator, api } = stack
  const client = new ForwardClient(
    stack.forwardPort ?? 0,
    await (await fetch(`${stack.apiUrl}/ca.pem`)).text(),
  )
  const access = await operator.makeAccess(stack.ownBaseUrl(), RULES)
  const tunnels = client.agent({ key: access.agent.api_key })
  const { origin, pathname } = new URL(access.base_url)
  const passed: string[] = []
  for (let i = 0; i < count; i++) {
    const size =
      i % 25 === 0 ? BODY_MAX_BYTES : Math.floor(10 ** (random.next() * (i % 5 === 0 ? 6.7 : 4)))
    const { kind, headers, body, is_chunked } = sample(i, size)
    const isForward = Math.floor(i / 6) % 2 === 1
    const path = `${isForward ? pathname : `/${access.base_url}`}/charges/${i}?b=${i}&a=%2F`
    const one: HttpCall = {
      ...(isForward ? { to: origin, connections: tunnels } : { to: stack.proxyUrl }),
      method: 'POST',
      path,
      body,
      is_chunked,
      headers: isForward ? headers : { ...access.headers, ...headers },
      limit_ms: 60_000,
    }
    const refused = await call(one)
    const name = `${kind}, ${body.length} B${is_chunked ? ', chunked' : ''}, ${isForward ? 'forward proxy' : 'base URL'}`
    if (refused.header('x-agw-reason') !== 'approval_required') {
      expect(false, `${name}: ${outcomeOf(refused)}`)
      continue
    }
    const { request_id } = refused.json().details
    const shown = await decide(operator, request_id, 'approve')
    const sent = api.mark()
    const answer = await call(one)
    const [received, ...others] = sent()
    await received?.ended
    if (answer.status !== 200 || received === undefined || others.length > 0) {
      expect(false, `${name}: ${outcomeOf(answer)}, ${sent().length} reached the API`)
      continue
    }
    const approval = await approvalOf(operator, answer)
    // The test API does not keep a longer body: its hash is that of what was sent, then, or there is a fault.
    const got = received.body_sha256 === sha256(body) ? body : received.body
    const url = `${origin}${received.path}`
    const digest = digestOf(received, got, url, access.agent.agent_id, shown.call)
    expect(approval?.body_sha256 === received.body_sha256, `${name}: another body was approved`)
    expect(approval?.digest === shown.call.digest, `${name}: the log has another digest`)
    expect(shown.call.digest === digest, `${name}: the API received what has another digest`)
    const way = isForward ? 'forward proxy' : 'base URL'
    passed.push(`${kind}${is_chunked ? ' chunked' : ''} by ${way}`)
  }
  say(`${passed.length} of ${count} approved calls received as approved: ${tally(passed)}`)
  tunnels.destroy()
  client.close()
  await stopAll(stack)
}
