import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fromRoot } from '../core/root.ts'
import { freePort } from '../test/kit/free-port.ts'
import { operatorAt } from '../test/kit/operator.ts'
import { startEnvoy } from '../test/kit/start-envoy.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { until } from '../test/kit/until.ts'
import type { LoadResult } from './load.ts'
import { startPlainEnvoy } from './start-plain-envoy.ts'

/**
 * CPU time per call of every process that the product runs, as `agw start` runs it: Envoy, ext-proc, the receiver of the
 * access log, admin, the store and the launcher, next to plain Envoy and Envoy with a processor that only answers.
 *
 *   npm run bench -- whole [--beside DIR] [--rounds N] [--calls N]
 *
 * `--beside` names another checkout that is built, which is measured in the same rounds.
 */

const CONNECTIONS = 32
const BODY_BYTES = 2_048
const WARM_UP_CALLS = 8_000
const START_LIMIT_MS = 60_000
/** Characters of its log that a product which does not start has to show. */
const LOG_SHOWN = 4_000
/** Admin and the receiver work in batches of a tenth of a second; what a round has caused is counted with it. */
const SETTLE_MS = 700
/** The unit of utime and stime in /proc on every Linux that Node runs on. */
const TICKS_PER_S = 100
/** Above what any round reaches in its minute. */
const RATE_PER_MINUTE = 10_000_000

const ROLES = ['Envoy', 'ext-proc', 'access log', 'admin', 'store', 'launcher'] as const
type Role = (typeof ROLES)[number]

interface Row {
  readonly name: string
  readonly body_bytes: number
  readonly scans: boolean
  readonly limits: boolean
}

const ROWS: readonly Row[] = [
  { name: 'GET, all on', body_bytes: 0, scans: true, limits: true },
  { name: 'POST 2 kB, all on', body_bytes: BODY_BYTES, scans: true, limits: true },
  { name: 'POST 2 kB, scan off, no limit', body_bytes: BODY_BYTES, scans: false, limits: false },
  { name: 'GET, scan off, no limit', body_bytes: 0, scans: false, limits: false },
]

/** What can be called and measured. */
interface Subject {
  readonly name: string
  readonly port: number
  readonly path: string
  /** Head lines of a call. */
  readonly headersOf: (row: Row) => string
  /** Its processes by role, which may change from round to round. */
  readonly pids: () => ReadonlyMap<number, Role>
  readonly stop: () => Promise<void>
}

/** CPU µs a call, by role. */
type Sample = Readonly<Partial<Record<Role, number>>> & {
  readonly whole: number
  readonly rate: number
}

async function benchWhole(print: (line: string) => void): Promise<void> {
  const { values } = parseArgs({
    options: {
      beside: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      calls: { type: 'string', default: '4000' },
    },
  })
  const upstream = fork(fromRoot('dist', 'bench/upstream.js'))
  const [{ port }] = (await once(upstream, 'message')) as [{ port: number }]
  const load = fork(fromRoot('dist', 'bench/load.js'))
  const subjects: Subject[] = []
  try {
    subjects.push(await plainEnvoy(port), await answeringProcessor(port))
    subjects.push(await product('the product', fromRoot(), port))
    if (values.beside !== undefined)
      subjects.push(await product('beside', resolve(values.beside), port))
    for (const row of ROWS) {
      const calls = Number(values.calls)
      const samples = await measure(subjects, row, { load, rounds: Number(values.rounds), calls })
      report(row, samples, { rounds: Number(values.rounds), calls }, print)
    }
  } finally {
    for (const { stop } of subjects) await stop()
    upstream.kill('SIGTERM')
    load.kill('SIGTERM')
  }
}

async function plainEnvoy(upstream_port: number): Promise<Subject> {
  const { port, pid, stop } = await startPlainEnvoy(upstream_port)
  const pids = new Map<number, Role>([[pid, 'Envoy']])
  return { name: 'plain Envoy', port, path: '/v1/x', headersOf: () => '', pids: () => pids, stop }
}

async function answeringProcessor(upstream_port: number): Promise<Subject> {
  const address = `unix:${join(tempFolder('bench'), 'answering.sock')}`
  const secret = randomBytes(24).toString('hex')
  const child = fork(fromRoot('dist', 'bench/answering-processor.js'), {
    env: {
      ...process.env,
      BENCH_FORM: 'reflected',
      BENCH_ADDRESS: address,
      BENCH_SECRET: secret,
    },
  })
  await once(child, 'message')
  const envoy = await startEnvoy(
    { AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' },
    { ext_proc_addresses: [address], verdict_secret: secret },
  )
  const pids = new Map<number, Role>([
    [envoy.pid, 'Envoy'],
    [child.pid ?? 0, 'ext-proc'],
  ])
  return {
    name: 'answering processor',
    port: envoy.port,
    path: `/http://127.0.0.1:${upstream_port}/v1/x`,
    headersOf: () => '',
    pids: () => pids,
    stop: async () => {
      await envoy.stop()
      child.kill('SIGTERM')
    },
  }
}

/** Another checkout may be older, so it is started by its launcher and set up by its admin API, which change little. */
async function product(name: string, root: string, upstream_port: number): Promise<Subject> {
  const folder = tempFolder('whole')
  const [port, api, echo] = await Promise.all([freePort(), freePort(), freePort()])
  const child = spawn(process.execPath, [join(root, 'dist', 'cli', 'bin.js'), 'start'], {
    cwd: folder,
    env: {
      ...process.env,
      AGW_PROXY_PORT: String(port),
      AGW_API_PORT: String(api),
      AGW_ECHO_PORT: String(echo),
      AGW_DATA_DIR: folder,
      AGW_EXT_PROC_WORKERS: '1',
      AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-LOG_SHOWN)
  })
  const url = `http://127.0.0.1:${api}`
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${url}/readyz`).catch(() => null))?.status === 200
  await until(`${root} is ready`, isReady, START_LIMIT_MS).catch((error: Error) => {
    throw new Error(`${error.message}\n${log}`)
  })
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
  const keys = await setUp(url, token, upstream_port)
  return {
    name,
    port,
    path: `/http://127.0.0.1:${upstream_port}/v1/x`,
    headersOf: (row) => `authorization: Bearer ${keys.get(row) ?? ''}\r\n`,
    pids: () => rolesBelow(child.pid ?? 0),
    stop: () => end(child),
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** An agent a row, with one scope; returns their keys. */
async function setUp(
  url: string,
  token: string,
  upstream_port: number,
): Promise<ReadonlyMap<Row, string>> {
  const operator = operatorAt(url, token)
  const { integration_id } = await operator.makeIntegration(`http://127.0.0.1:${upstream_port}/v1`)
  const keys = new Map<Row, string>()
  for (const row of ROWS) {
    const { agent_id, api_key } = await operator.makeAgent()
    await operator.makeScope(agent_id, integration_id, {
      rules: [{ methods: ['GET', 'POST'], paths: ['/**'] }],
      injection_detection: { enabled: row.scans, sensitivity: 'medium' },
      rate_limiting: { requests_per_minute: row.limits ? RATE_PER_MINUTE : null },
    })
    keys.set(row, api_key)
  }
  return keys
}

const LOOKS: readonly (readonly [Role, RegExp])[] = [
  ['ext-proc', /ext-proc\/main\.js/],
  ['access log', /access-log\/main\.js|agw-access-log/],
  ['admin', /admin\/main\.js/],
  ['Envoy', /envoy\.yaml/],
  ['store', /valkey|redis-server/],
  ['launcher', /cli\/bin\.js/],
]

/** A process and its descendants; the echo API is not called. */
function rolesBelow(root: number): ReadonlyMap<number, Role> {
  const parents = new Map<number, number>()
  const roles = new Map<number, Role>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const stat = Number.isInteger(pid) ? read(`/proc/${pid}/stat`) : ''
    if (stat !== '') parents.set(pid, Number(afterName(stat)[1]))
  }
  for (const pid of parents.keys()) {
    let at = pid
    while (at !== root && at > 1) at = parents.get(at) ?? 0
    const line = at === root ? read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ') : ''
    const role = LOOKS.find(([, look]) => look.test(line))?.[0]
    if (role !== undefined) roles.set(pid, role)
  }
  return roles
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // The process has ended.
    return ''
  }
}

/** The fields of /proc/PID/stat after the name, which may hold spaces. */
const afterName = (stat: string): readonly string[] => stat.split(') ').at(-1)?.split(' ') ?? []

function cpuMicros(pids: ReadonlyMap<number, Role>): Map<Role, number> {
  const sums = new Map<Role, number>()
  for (const [pid, role] of pids) {
    const fields = afterName(read(`/proc/${pid}/stat`))
    const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
    sums.set(role, (sums.get(role) ?? 0) + (ticks / TICKS_PER_S) * 1e6)
  }
  return sums
}

interface Plan {
  readonly load: ChildProcess
  readonly rounds: number
  readonly calls: number
}

async function measure(
  subjects: readonly Subject[],
  row: Row,
  { load, rounds, calls }: Plan,
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map<string, Sample[]>(subjects.map(({ name }) => [name, []]))
  for (const subject of subjects) await run(load, subject, row, WARM_UP_CALLS)
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      const pids = subject.pids()
      const before = cpuMicros(pids)
      const { took_ms, failed } = await run(load, subject, row, calls)
      if (failed > 0) throw new Error(`${subject.name}: ${failed} of ${calls} calls failed`)
      await new Promise((settled) => setTimeout(settled, SETTLE_MS))
      const after = cpuMicros(pids)
      const spent = ROLES.map(
        (role) => [role, ((after.get(role) ?? 0) - (before.get(role) ?? 0)) / calls] as const,
      )
      samples.get(subject.name)?.push({
        ...Object.fromEntries(spent),
        whole: spent.reduce((sum, [, us]) => sum + us, 0),
        rate: (calls / took_ms) * 1000,
      })
    }
  }
  return samples
}

async function run(
  load: ChildProcess,
  { port, path, headersOf }: Subject,
  row: Row,
  calls: number,
): Promise<LoadResult> {
  const head = `${path} HTTP/1.1\r\nhost: bench\r\n${headersOf(row)}`
  const body = bodyOf(row.body_bytes)
  const request =
    body === ''
      ? `GET ${head}\r\n`
      : `POST ${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  load.send({ port, connections: CONNECTIONS, calls, request })
  const [result] = (await once(load, 'message')) as [LoadResult]
  return result
}

const SENTENCE = 'The report of last week is ready, and the next one will follow on Monday. '

/** A chat in ordinary words. */
function bodyOf(bytes: number): string {
  if (bytes === 0) return ''
  const text = (length: number): string =>
    JSON.stringify({
      model: 'm',
      messages: [{ role: 'user', content: SENTENCE.repeat(100).slice(0, length) }],
    })
  return text(bytes - text(0).length)
}

function report(
  { name }: Row,
  samples: ReadonlyMap<string, readonly Sample[]>,
  { rounds, calls }: Omit<Plan, 'load'>,
  print: (line: string) => void,
): void {
  print(`\n${name}: µs of CPU per call, medians of ${rounds} interleaved rounds of ${calls} calls`)
  const columns = ['', ...ROLES, 'whole', '× plain', '× answering', 'calls/s']
  const wholeOf = (subject: string): number => medianOf(samples.get(subject), 'whole')
  const rows = [...samples].map(([subject, all]) => [
    subject,
    ...ROLES.map((role) => medianOf(all, role).toFixed(0)),
    wholeOf(subject).toFixed(0),
    (wholeOf(subject) / wholeOf('plain Envoy')).toFixed(1),
    (wholeOf(subject) / wholeOf('answering processor')).toFixed(2),
    medianOf(all, 'rate').toFixed(0),
  ])
  for (const cells of [columns, columns.map(() => '---'), ...rows])
    print(`| ${cells.join(' | ')} |`)
}

function medianOf(samples: readonly Sample[] | undefined, member: Role | 'whole' | 'rate'): number {
  const values = (samples ?? []).map((sample) => sample[member] ?? 0).sort((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? Number.NaN
}

await benchWhole((line) => process.stdout.write(`${line}\n`))
