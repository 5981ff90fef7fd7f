import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect as connectH2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { parseArgs } from 'node:util'
import { fromRoot } from '../../core/system/root.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { makeCertificates } from '../kit/make-certificates.ts'
import { operatorAt, type Access } from '../kit/operator.ts'
import { type Fleet, startFleet } from '../kit/start-fleet.ts'
import { startTokenEndpoint } from '../kit/start-token-endpoint.ts'
import { until } from '../kit/until.ts'

/**
 * Kills agents at random points of the life of their calls, on two edges with an Envoy each, slow reads of the store,
 * two admin processes, and edges that die and join. After a kill that calls itself complete nothing of the agent may
 * begin at the API, and nothing that the API sent afterwards may reach a caller.
 *
 *     node dist/test/witness/kills.js [--rounds 60] [--seed 1]
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
})
const LEASE_MS = 1_500
const ORG = 'org_default'

let state = Number(values.seed) >>> 0
/** mulberry32 */
const random = (): number => {
  state = (state + 0x6d2b79f5) >>> 0
  let t = state
  t = Math.imul(t ^ (t >>> 15), t | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
}
const below = (limit: number): number => Math.floor(random() * limit)
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Node.js 20 accepts one connection in each turn of the event loop. */
const DRAIN_TURNS = 200
/** What has arrived in this process's sockets by now is handled. */
const drain = async (): Promise<void> => {
  for (let i = 0; i < DRAIN_TURNS; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** What the API did, in order. An emission carries its number, so that a caller's bytes tell when they were sent. */
let emitted = 0
const begun: string[] = []

async function startApi(): Promise<{
  readonly origin: string
  readonly stop: () => Promise<void>
}> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? ''
    begun.push(path)
    response.on('error', () => undefined)
    request.on('error', () => undefined).resume()
    if (path.includes('/drop')) return void request.socket.destroy()
    if (path.includes('/wait')) return
    const write = (): boolean => response.write(`data: ${++emitted};\n\n`)
    if (path.includes('/late'))
      return void setTimeout(() => response.end(`data: ${++emitted};\n\n`), 5 + (path.length % 60))
    if (path.includes('/body'))
      return void request.on('end', () => response.end(`data: ${++emitted};\n\n`))
    if (path.includes('/trailers')) {
      response.writeHead(200, { 'content-type': 'text/event-stream', trailer: 'x-end' })
      write()
      response.addTrailers({ 'x-end': '1' })
      return void setTimeout(() => response.end(), 40)
    }
    if (path.includes('/sse') || path.includes('/json')) {
      response.writeHead(200, {
        'content-type': path.includes('/json') ? 'application/json' : 'text/event-stream',
      })
      write()
      const timer = setInterval(write, 3)
      response.once('close', () => clearInterval(timer))
      return
    }
    response.end(`data: ${++emitted};\n\n`)
  }
  const server = createServer(answer)
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface OpenCall {
  readonly kind: string
  /** Numbers of the emissions that arrived. */
  readonly highest: () => number
  readonly statuses: () => readonly string[]
  readonly isOpen: () => boolean
  /** What the caller had kept back: the rest of the head or body, or a request on an idle connection. */
  readonly go_on: () => void
  readonly close: () => void
}

const KINDS = [
  'connected',
  'half-head',
  'half-body',
  'half-stream',
  'scan',
  'wait',
  'sse',
  'json',
  'late',
  'fast',
  'drop',
  'trailers',
  'upgrade',
  'pipelined',
  'token',
  'h2',
] as const
type Kind = (typeof KINDS)[number]

interface Subject {
  readonly plain: Access
  readonly scanned: Access
  readonly token: Access
  readonly keys: string[]
}

function open(url: string, kind: Kind, subject: Subject, key: string): OpenCall {
  const access =
    kind === 'token'
      ? subject.token
      : kind === 'scan' || kind === 'half-body'
        ? subject.scanned
        : subject.plain
  const path = `/${access.base_url}/${PATHS[kind] ?? kind}/${below(1e9)}`
  if (kind === 'h2')
    return openH2(url, path.replace('/h2/', pick(['/sse/', '/wait/', '/late/'])), key)
  const { hostname, port, host } = new URL(url)
  const body =
    kind === 'scan'
      ? JSON.stringify({ text: 'a word '.repeat(60_000) })
      : JSON.stringify({ text: 'a word '.repeat(200) })
  const hasBody = ['half-body', 'half-stream', 'scan'].includes(kind)
  const head = (more = ''): string =>
    `${hasBody ? 'POST' : 'GET'} ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n${
      hasBody ? `content-type: application/json\r\ncontent-length: ${body.length}\r\n` : ''
    }${kind === 'pipelined' || kind === 'upgrade' ? '' : 'connection: close\r\n'}${more}\r\n`
  const parts: Readonly<Partial<Record<Kind, readonly [now: string, later: string]>>> = {
    connected: ['', head()],
    'half-head': [head().slice(0, head().length - 20), head().slice(-20)],
    'half-body': [head() + body.slice(0, 300), body.slice(300)],
    'half-stream': [head() + body.slice(0, 300), body.slice(300)],
    scan: [head() + body, ''],
    upgrade: [
      head(
        'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n',
      ),
      '',
    ],
    pipelined: [head() + head(), head()],
  }
  const [now, later] = parts[kind] ?? [head(), '']
  let text = ''
  let highest = 0
  let isOpen = true
  const socket = connect(Number(port), hostname)
  if (now !== '') socket.write(now)
  const statuses: string[] = []
  socket.setEncoding('latin1')
  socket.on('data', (part: string) => {
    text += part
    for (const [, number] of text.matchAll(/data: (\d+);/g))
      highest = Math.max(highest, Number(number))
    for (const [, status, rest] of text.matchAll(/HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r]+\r\n)*)/g))
      statuses.push(`${status} ${/x-agw-reason: (\S+)/i.exec(rest ?? '')?.[1] ?? ''}`.trim())
    text = text.slice(-200).replaceAll('HTTP/1.1', '')
  })
  socket.on('error', () => undefined)
  socket.once('close', () => (isOpen = false))
  return {
    kind,
    highest: () => highest,
    statuses: () => statuses,
    isOpen: () => isOpen,
    go_on: () => void (later !== '' && isOpen && socket.write(later)),
    close: () => socket.destroy(),
  }
}

const PATHS: Readonly<Partial<Record<Kind, string>>> = {
  connected: 'sse',
  'half-head': 'sse',
  'half-body': 'body',
  'half-stream': 'body',
  scan: 'body',
  pipelined: 'late',
  token: 'sse',
}

function openH2(url: string, path: string, key: string): OpenCall {
  const session = connectH2(url)
  session.on('error', () => undefined)
  let highest = 0
  let open_streams = 0
  const statuses: string[] = []
  const start = (): void => {
    if (session.destroyed) return
    open_streams++
    const stream = session.request({ ':path': path, authorization: `Bearer ${key}` })
    stream.on('response', (headers) =>
      statuses.push(`${headers[':status']} ${String(headers['x-agw-reason'] ?? '')}`.trim()),
    )
    stream.setEncoding('latin1').on('data', (part: string) => {
      for (const [, number] of part.matchAll(/data: (\d+);/g))
        highest = Math.max(highest, Number(number))
    })
    stream.on('error', () => undefined)
    stream.once('close', () => open_streams--)
  }
  for (let i = 0; i < 3; i++) start()
  return {
    kind: 'h2',
    highest: () => highest,
    statuses: () => statuses,
    isOpen: () => open_streams > 0,
    go_on: start,
    close: () => session.destroy(),
  }
}

// Each process of the fleet ends with this one.
process.setMaxListeners(0)
const certificates = await makeCertificates(['localhost', '127.0.0.1'])
const fleet: Fleet = await startFleet({
  edges: [{}, {}],
  envoys: 'each',
  program: fromRoot('test', 'kit', 'slow-fills.mjs'),
  env: {
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    AGW_KILL_LEASE_MS: String(LEASE_MS),
    AGW_UPSTREAM_CA_FILE: certificates.ca_file,
  },
})
const api = await startApi()
const tokens = await startTokenEndpoint(certificates, '127.0.0.1')
tokens.behave(
  't',
  (_, response) => void setTimeout(() => tokens.give('t', response, { expires_in: 1 }), below(120)),
)
const second = await fleet.restartAdmin()
const admins = [fleet.operator, operatorAt(second.url, second.token)]
let made = 0

async function makeSubject(agent_id?: string): Promise<Subject> {
  const { operator } = fleet
  const base = `${api.origin}/s${++made}`
  const plain = await operator.makeAccess(`${base}/plain`, {})
  const also = async (name: string, scope: object, auth?: object): Promise<Access> => {
    const integration = await operator.makeIntegration(
      `${base}/${name}`,
      auth === undefined ? {} : { auth },
    )
    const { scope_id } = await operator.makeScope(
      plain.agent.agent_id,
      integration.integration_id,
      scope,
    )
    return { ...plain, integration, scope_id, base_url: integration.base_url }
  }
  return {
    plain,
    scanned: await also('scanned', {
      injection_detection: { enabled: true },
      rate_limiting: { requests_per_minute: 100_000 },
    }),
    token: await also(
      'token',
      {},
      {
        type: 'oauth2_client_credentials',
        token_url: tokens.url('t'),
        client_id: 'c',
        client_secret: 's',
      },
    ),
    keys: [plain.agent.api_key],
  }
}

const violations: string[] = []
const counts = new Map<string, number>()
const count = (what: string, by = 1): void => void counts.set(what, (counts.get(what) ?? 0) + by)
const idOf = ({ plain }: Subject): string => plain.agent.agent_id
const ownPath = ({ plain }: Subject): string => new URL(plain.base_url).pathname.split('/')[1] ?? ''

/** What is asked of the admin API at the same time as the kill. */
const MEANWHILE = {
  nothing: async () => undefined,
  'a second kill by another admin': async (subject: Subject) =>
    void (await admins[1]?.send('POST', `/admin/agents/${idOf(subject)}/kill`)),
  'a new key': async (subject: Subject) => {
    const path = `/admin/agents/${idOf(subject)}/keys`
    await admins[1]?.send('POST', path, { name: 'meanwhile' }).then(
      ({ key }: { key: string }) => subject.keys.push(key),
      () => count('new keys refused'),
    )
  },
  'a changed scope': async (subject: Subject) =>
    void (await admins[1]?.send('PUT', `/admin/scopes/${subject.plain.scope_id}`, {
      name: `changed ${below(1e9)}`,
    })),
  'a changed integration': async (subject: Subject) =>
    void (await admins[1]?.send(
      'PUT',
      `/admin/integrations/${subject.plain.integration.integration_id}`,
      { name: `changed ${below(1e9)}` },
    )),
  'a killed edge': async () => {
    fleet.edges[1]?.signal('SIGKILL')
    await fleet.edges[1]?.exited()
  },
  'a joining edge': async () => {
    fleet.edges[1]?.signal('SIGKILL')
    await fleet.edges[1]?.exited()
    void fleet.edges[1]?.restart()
  },
} as const satisfies Readonly<Record<string, (subject: Subject) => Promise<void>>>
type Meanwhile = keyof typeof MEANWHILE

async function killAndCheck(
  subject: Subject,
  calls: readonly OpenCall[],
  meanwhile: Meanwhile,
  label: string,
): Promise<void> {
  const violated = (what: string): void => void violations.push(`${label}: ${what}`)
  const also = MEANWHILE[meanwhile](subject)
  const receipt = await pick(admins).send('POST', `/admin/agents/${idOf(subject)}/kill`, {
    reason: label,
  })
  await drain()
  const [emitted_then, begun_then] = [emitted, begun.length]
  count(receipt.complete ? 'kills complete' : 'kills not complete')
  count('calls terminated', receipt.in_flight_requests_terminated)
  const sum = receipt.edges.reduce((all: number, edge: any) => all + edge.terminated, 0)
  if (sum !== receipt.in_flight_requests_terminated)
    violated(`edges say ${sum}, the receipt ${receipt.in_flight_requests_terminated}`)
  if (meanwhile === 'a second kill by another admin') await also
  const log = await fleet.operator.send(
    'GET',
    `/admin/activity?event=agent_killed&agent_id=${idOf(subject)}&limit=5`,
  )
  // Of two kills at a time the receipt of the first may have the time of the second, which is not answered yet.
  const killed_ms = Date.parse(receipt.killed_at)
  if (!log.data.some(({ timestamp }: any) => Date.parse(timestamp) >= killed_ms - 1))
    violated(`the kill of ${receipt.killed_at} is not in the log: ${JSON.stringify(log.data)}`)
  for (const call of calls) call.go_on()
  await also
  // A receipt that is not complete promises this after the lease.
  let from = begun_then
  let emitted_from = emitted_then
  if (!receipt.complete) {
    await pause(LEASE_MS + 300)
    await drain()
    ;[from, emitted_from] = [begun.length, emitted]
  }
  const tried: OpenCall[] = []
  for (const key of subject.keys)
    for (const { url } of fleet.edges)
      for (const kind of ['fast', 'half-head', 'h2', 'token'] as const)
        tried.push(open(url, kind, subject, key))
  for (const call of tried) call.go_on()
  const isOver = (call: OpenCall): boolean =>
    !call.isOpen() || ['pipelined', 'upgrade'].includes(call.kind)
  const all = [...calls, ...tried]
  await until(`${label}: every call has ended`, () => all.every(isOver)).catch(() => {
    const left = all.filter((call) => !isOver(call))
    violated(
      `still open: ${left.map((call) => `${call.kind} ${call.statuses().join()}`).join('; ')}`,
    )
  })
  await pause(30)
  await drain()
  const late = begun.slice(from).filter((path) => path.includes(`/${ownPath(subject)}/`))
  if (late.length > 0)
    violated(
      `began at the API after the kill: ${late.join(', ')}; the receipt: ${JSON.stringify(receipt)}`,
    )
  for (const call of [...calls, ...tried]) {
    if (call.highest() > emitted_from)
      violated(`${call.kind} received emission ${call.highest()}, the kill was at ${emitted_from}`)
    for (const status of call.statuses())
      count(`${tried.includes(call) ? 'after' : 'at'} the kill: ${status}`)
  }
  for (const call of tried)
    for (const status of call.statuses())
      if (!/^(403 agent_killed|401 invalid_api_key|503 gateway_unavailable|503)$/.test(status))
        violated(`a call after the kill was answered ${status}`)
  for (const call of [...calls, ...tried]) call.close()
  const stored = JSON.parse((await fleet.redis.hget(REDIS_KEYS.agents(ORG), idOf(subject))) ?? '{}')
  if (stored.status !== 'killed') violated(`the store says ${stored.status}`)
}

const reactivate = (subject: Subject): Promise<unknown> =>
  fleet.operator.send('POST', `/admin/agents/${idOf(subject)}/reactivate`, { reason: 'next round' })

async function passesAgain(subject: Subject, label: string): Promise<void> {
  const { url } = fleet.edges[0] as { url: string }
  const answer = await fetch(`${url}/${subject.plain.base_url}/fast`, {
    headers: { authorization: `Bearer ${subject.keys[0]}` },
  })
  if (answer.status !== 200)
    violations.push(`${label}: after the reactivation ${answer.status} ${await answer.text()}`)
}

async function round(number: number): Promise<void> {
  const subject = await makeSubject()
  const meanwhile = pick(Object.keys(MEANWHILE) as Meanwhile[])
  const label = `round ${number} (seed ${values.seed}), ${meanwhile}`
  const calls: OpenCall[] = []
  for (let kills = 1 + below(3); kills > 0; kills--) {
    const begin = 6 + below(20)
    for (let i = 0; i < begin; i++) {
      calls.push(open(pick(fleet.edges).url, pick(KINDS), subject, pick(subject.keys)))
      count('calls')
      if (random() < 0.5) await pause(below(25))
    }
    const quick = random() < 0.25
    if (quick) {
      // In quick order, by two admins, with no look between them.
      const path = `/admin/agents/${idOf(subject)}`
      await Promise.all([
        admins[0]?.send('POST', `${path}/kill`),
        admins[1]?.send('POST', `${path}/reactivate`, { reason: 'quick' }),
        admins[0]?.send('POST', `${path}/kill`),
        admins[1]?.send('POST', `${path}/reactivate`, { reason: 'quick' }),
      ])
      count('quick orders')
    }
    await killAndCheck(subject, calls.splice(0), kills === 1 ? meanwhile : 'nothing', label)
    if (kills > 1) {
      await reactivate(subject)
      await passesAgain(subject, label)
    }
  }
  if (meanwhile === 'a killed edge') await fleet.edges[1]?.restart()
  if (meanwhile === 'a joining edge')
    await until('the edge has joined', () =>
      fetch(`${fleet.edges[1]?.url}/not-a-url`).then(
        ({ status }) => status === 400,
        () => false,
      ),
    )
  // Deleted and created again with the same id: a tombstone, no resurrection.
  if (random() < 0.3) {
    await fleet.operator.send('DELETE', `/admin/agents/${idOf(subject)}?cascade=true`)
    const again = await fetch(`${fleet.admin.url}/admin/agents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fleet.admin.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent_name: 'again', agent_id: idOf(subject) }),
    })
    if (again.status !== 409)
      violations.push(`${label}: the id of a deleted agent was given again: ${again.status}`)
    for (const { url } of fleet.edges) {
      const answer = await fetch(`${url}/${subject.plain.base_url}/fast`, {
        headers: { authorization: `Bearer ${subject.keys[0]}` },
      })
      if (answer.status < 400)
        violations.push(`${label}: a deleted agent was answered ${answer.status}`)
    }
    count('deletions')
  }
  await until('both listeners decide', async () =>
    (
      await Promise.all(
        fleet.edges.map(({ url }) =>
          fetch(`${url}/not-a-url`).then(
            ({ status }) => status === 400,
            () => false,
          ),
        ),
      )
    ).every(Boolean),
  )
}

try {
  for (let number = 1; number <= Number(values.rounds); number++) {
    await round(number)
    if (number % 10 === 0) console.log(`${number} rounds, ${violations.length} violations`)
  }
  for (const [what, number] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(number).padStart(7)}  ${what}`)
  for (const violation of violations) console.log(`VIOLATION ${violation}`)
  assert.equal(violations.length, 0)
} finally {
  await fleet.stop()
  await Promise.all([api.stop(), tokens.stop()])
}
