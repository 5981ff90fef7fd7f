import { once } from 'node:events'
import { Agent } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { parseArgs } from 'node:util'
import { call } from '../test/kit/call.ts'
import { ForwardClient } from '../test/kit/forward-client.ts'
import { makeCertificates } from '../test/kit/make-certificates.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { type SharedStack, startAll, stopAll } from '../test/kit/shared-stack.ts'
import type { ChildRole } from '../test/kit/start-stack.ts'
import { until } from '../test/kit/until.ts'
import { cpuMicros, type Role } from './subjects.ts'

/**
 * The forward proxy in figures, on two ext-proc processes:
 *
 *   npm run bench -- forward [cost] [kill] [--drain MS]
 *
 * `cost`: CPU per call of kept tunnels, and of a new tunnel for each call, against calls by base URL; those are without TLS, so
 * another row shows what TLS adds to them. `kill`: how long after the kill began each kind of tunnel has ended. Without a word: both.
 * The exit code is 1 if a limit was missed.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '10' },
    drain: { type: 'string', default: '3000' },
  },
})
const LANES = 16
/** What the forward proxy may add to the CPU time of a call by base URL when tunnels are kept. */
const COST_MAX = 1.15
const KILL_MAX_MS = 200
/** Clients leave a tunnel after two thirds of it: a cost with the default of the product needs `--drain 30000`. */
const DRAIN_MS = Number(values.drain)

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const missed: string[] = []
const limit = (isMet: boolean, what: string): void => {
  if (isMet) return
  missed.push(what)
  print(`MISSED: ${what}`)
}

const SETTINGS = {
  AGW_EXT_PROC_WORKERS: '2',
  AGW_DRAIN_TIMEOUT: `${DRAIN_MS}ms`,
  AGW_FORWARD_TUNNELS_PER_AGENT: '10000',
  AGW_FORWARD_CONNECTS_PER_MINUTE: '1000000',
}
const stack = await startAll(SETTINGS)
const { operator, origin } = stack
const ca = await (await fetch(`${stack.apiUrl}/ca.pem`)).text()
const client = new ForwardClient(stack.forwardPort ?? 0, ca)
const to = origin('plain')
const { host, hostname } = new URL(to)

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** `count` times `work`, several at a time. */
async function spread(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** Also where an error comes first. */
const closed = (stream: { once(event: 'close', done: () => void): unknown }): Promise<void> =>
  new Promise((resolve) => stream.once('close', () => resolve()))

async function pidsOf(of: SharedStack, roles: readonly ChildRole[]): Promise<Map<number, Role>> {
  const pids = await Promise.all(
    roles.map(async (role) => (await of.pids(role)).map((pid) => [pid, role as Role] as const)),
  )
  return new Map(pids.flat())
}

/** A kind of call, and whose CPU time it costs. */
interface CostRow {
  readonly of: SharedStack
  readonly ask: () => Promise<number>
  /** Per round: Envoy, ext-proc, all processes, calls per second, tunnels opened per 1,000 calls. */
  readonly rounds: number[][]
}

async function cost(): Promise<void> {
  const { agent, base_url, headers } = await stack.makeAccess()
  const path = `${new URL(base_url).pathname}/echo`
  const kept = client.agent({ key: agent.api_key })
  kept.maxSockets = LANES
  const direct = new Agent({ keepAlive: true, maxSockets: LANES })
  const session = new KeptSession(agent.api_key)
  const secure = await overTls()
  const row = (ask: CostRow['ask'], of: SharedStack = stack): CostRow => ({ of, ask, rounds: [] })
  const rows = new Map<string, CostRow>([
    [
      BASE_URL,
      row(async () => {
        const one = { to: stack.proxyUrl, path: `/${base_url}/echo`, headers, connections: direct }
        return (await call(one)).status
      }),
    ],
    ['base URL over TLS', row(secure.ask, secure.stack)],
    [
      'kept tunnel, HTTP/1.1',
      row(async () => (await call({ to, path, connections: kept })).status),
    ],
    ['kept tunnel, HTTP/2', row(() => session.ask(path))],
    [
      'a new tunnel per call',
      row(async () => {
        const one = client.agent({ key: agent.api_key })
        const { status } = await call({ to, path, connections: one })
        one.destroy()
        return status
      }),
    ],
  ])
  // The first round warms up.
  for (let round = -1; round < Number(values.rounds); round++)
    for (const [name, one] of rows) {
      const sample = await costOf(name, one)
      if (round >= 0) one.rounds.push(sample)
    }
  await session.destroy()
  kept.destroy()
  direct.destroy()
  await secure.end()
  printCosts(rows)
}

const BASE_URL = 'base URL'

/** What TLS alone costs: the same gateway once more, with TLS on the listener of the base URLs. */
async function overTls(): Promise<{
  readonly stack: SharedStack
  readonly ask: () => Promise<number>
  readonly end: () => Promise<void>
}> {
  const { ca, cert_file, key_file } = await makeCertificates(['127.0.0.1'])
  const tls = { AGW_TLS_CERT_FILE: cert_file, AGW_TLS_KEY_FILE: key_file }
  const other = await startAll({ ...SETTINGS, ...tls })
  const { ownBaseUrl, proxyUrl } = other
  const { base_url, headers } = await operatorAt(other.apiUrl, other.adminToken).makeAccess(
    ownBaseUrl(),
  )
  const connections = new Agent({ keepAlive: true, maxSockets: LANES })
  connections.createConnection = () =>
    connectTls({ host: '127.0.0.1', port: Number(new URL(proxyUrl).port), ca })
  return {
    stack: other,
    ask: async () =>
      (await call({ to: proxyUrl, path: `/${base_url}/echo`, headers, connections })).status,
    end: async () => {
      connections.destroy()
      await stopAll(other)
    },
  }
}

async function costOf(name: string, { of, ask }: CostRow): Promise<number[]> {
  const calls = Number(values.calls)
  const pids = await pidsOf(of, ['envoy', 'ext-proc', 'access-log', 'admin', 'valkey'])
  const tunnels_before = await tunnelsOpened(of)
  const before = cpuMicros(pids)
  const began_ms = performance.now()
  await spread(calls, async () => {
    const status = await ask()
    if (status !== 200) throw new Error(`${name}: ${status}`)
  })
  const took_ms = performance.now() - began_ms
  await wait(700)
  const after = cpuMicros(pids)
  const [envoy = 0, processor = 0, ...others] = [...after].map(
    ([role, us]) => (us - (before.get(role) ?? 0)) / calls,
  )
  const all = others.reduce((sum, us) => sum + us, envoy + processor)
  const tunnels = (await tunnelsOpened(of)) - tunnels_before
  return [envoy, processor, all, (calls / took_ms) * 1000, (tunnels / calls) * 1000]
}

async function tunnelsOpened({ envoyAdmin }: SharedStack): Promise<number> {
  const text = await envoyAdmin('/stats?filter=^http.forward.downstream_cx_total$')
  return Number(/: (\d+)/.exec(text)?.[1] ?? 0)
}

function printCosts(rows: ReadonlyMap<string, CostRow>): void {
  const { rounds, calls } = values
  print(`\ncost: µs of CPU per call, medians of ${rounds} interleaved rounds of ${calls} calls`)
  print('| | Envoy | ext-proc | all processes | × base URL | calls/s | tunnels opened per 1,000 |')
  print('|---|---|---|---|---|---|---|')
  const at = (name: string, column: number): number =>
    median((rows.get(name)?.rounds ?? []).map((one) => one[column] ?? 0))
  for (const name of rows.keys()) {
    const [envoy, processor, all, rate, tunnels] = [0, 1, 2, 3, 4].map((n) =>
      at(name, n).toFixed(0),
    )
    const ratio = at(name, 2) / at(BASE_URL, 2)
    print(
      `| ${name} | ${envoy} | ${processor} | ${all} | ${ratio.toFixed(2)} | ${rate} | ${tunnels} |`,
    )
    if (name.startsWith('kept')) limit(ratio <= COST_MAX, `${name}: ${ratio.toFixed(2)} × base URL`)
  }
}

async function kill(): Promise<void> {
  const kinds = [
    'silent tunnel',
    'idle after TLS',
    'kept after a call',
    'streaming response',
    'uploading request',
    '100 HTTP/2 streams',
    'blind tunnel',
  ] as const
  const took = new Map<string, number[]>(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < Number(values.kills); round++) {
    const { agent, base_url } = await stack.makeAccess()
    const base = new URL(base_url).pathname
    const options = { key: agent.api_key }
    const secure = async (): Promise<Socket> => {
      const { socket } = await client.tunnel(host, options)
      return await client.tls(socket, { servername: hostname })
    }
    const head = (line: string): string => `${line} HTTP/1.1\r\nHost: ${host}\r\n`
    const sending = async (text: string, isAnswered: boolean): Promise<Socket> => {
      const socket = await secure()
      socket.on('error', () => undefined).resume()
      socket.write(text)
      if (isAnswered) await once(socket, 'data')
      return socket
    }
    const sent = stack.api.mark()
    const session = await client.http2(to, options)
    const streams = Array.from({ length: 100 }, () => {
      const stream = session.request({ ':path': `${base}/sse?ticks=100000&interval_ms=200` })
      return stream.on('error', () => undefined).resume()
    })
    await Promise.all(streams.map((stream) => once(stream, 'response')))
    const blindHost = new URL(origin('blind')).host
    const sockets: readonly (Socket | undefined)[] = [
      (await client.tunnel(host, options)).socket,
      await secure(),
      await sending(`${head(`GET ${base}/echo`)}\r\n`, true),
      await sending(`${head(`GET ${base}/sse?ticks=100000&interval_ms=20`)}\r\n`, true),
      await sending(`${head(`POST ${base}/upload`)}Content-Length: 1000000\r\n\r\nbegins`, false),
      undefined,
      (await client.tunnel(blindHost, options)).socket,
    ]
    await until('the upload has begun', () => sent().some((one) => one.path === `${base}/upload`))
    const ended = sockets.map((socket) =>
      socket === undefined
        ? Promise.all(streams.map(closed))
        : closed(socket.on('error', () => undefined).resume()),
    )
    const began_ms = performance.now()
    const killed = operator.send('POST', `/admin/agents/${agent.agent_id}/kill`, {})
    await Promise.all(
      ended.map(async (end, i) => {
        await end
        took.get(kinds[i] ?? '')?.push(performance.now() - began_ms)
      }),
    )
    await killed
  }
  print(`\nkill: ms from the call of the admin API to the end, ${values.kills} kills`)
  print('| | median | most |\n|---|---|---|')
  for (const [kind, all] of took) {
    print(`| ${kind} | ${median(all).toFixed(0)} | ${Math.max(...all).toFixed(0)} |`)
    limit(Math.max(...all) < KILL_MAX_MS, `${kind}: ${Math.max(...all).toFixed(0)} ms`)
  }
}

/** HTTP/2 in a tunnel, and in the next when Envoy asks the client to leave the first. */
class KeptSession {
  readonly #key: string
  #opening: Promise<ClientHttp2Session> | null = null

  constructor(key: string) {
    this.#key = key
  }

  async ask(path: string): Promise<number> {
    const session = await this.#current()
    return await askOver(session, path).catch(async (error: Error) => {
      // The GOAWAY came first, so it was not sent, and any client sends it in a new connection (RFC 9113, 8.7).
      if (!/NGHTTP2_REFUSED_STREAM|ERR_HTTP2_(?:INVALID|GOAWAY)_SESSION/.test(String(error.stack)))
        throw error
      return await askOver(await this.#current(session), path)
    })
  }

  async destroy(): Promise<void> {
    if (this.#opening !== null) (await this.#opening).destroy()
  }

  async #current(left?: ClientHttp2Session): Promise<ClientHttp2Session> {
    const known = this.#opening
    const session = known === null ? null : await known
    if (session !== null && session !== left && !session.closed && !session.destroyed)
      return session
    // Another call may have opened the next one meanwhile.
    if (this.#opening !== known) return await this.#current(left)
    this.#opening = client.http2(to, { key: this.#key })
    return await this.#opening
  }
}

async function askOver(session: ClientHttp2Session, path: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    let status = 0
    const stream = session.request({ ':path': path })
    stream.once('response', (headers) => (status = headers[':status'] ?? 0))
    stream.once('error', reject)
    // Without an end, the response was cut.
    stream.once('close', () => resolve(stream.readableEnded ? status : 0))
    stream.resume()
  })
}

const PARTS = { cost, kill }
for (const word of positionals)
  if (!(word in PARTS)) throw new Error(`"${word}" is none of ${Object.keys(PARTS).join(', ')}`)
try {
  for (const [name, part] of Object.entries(PARTS))
    if (positionals.length === 0 || positionals.includes(name)) await part()
} finally {
  client.close()
  await stopAll(stack)
}
process.exitCode = missed.length === 0 ? 0 : 1
