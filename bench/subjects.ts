import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { processStat } from '../core/system/process-stat.ts'
import { fromRoot } from '../core/system/root.ts'
import { freePort } from '../test/kit/free-port.ts'
import { type Operator, operatorAt } from '../test/kit/operator.ts'
import { startEnvoy } from '../test/kit/start-envoy.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { until } from '../test/kit/until.ts'
import { startPlainEnvoy } from './start-plain-envoy.ts'

const START_LIMIT_MS = 60_000
/** Characters of its log that a product which does not start has to show. */
const LOG_SHOWN = 4_000
/** Above what any round reaches in its minute. */
const RATE_PER_MINUTE = 10_000_000

export const ROLES = ['Envoy', 'ext-proc', 'access log', 'admin', 'store', 'launcher'] as const
export type Role = (typeof ROLES)[number]

/** A kind of call. */
export interface Row {
  readonly name: string
  readonly body_bytes: number
  readonly scans: boolean
  readonly limits: boolean
  /** Whether the API answers with an event stream. */
  readonly streams?: true
  /** Whether a rule for other calls asks for approvals; absent: there is no such rule. */
  readonly asks?: boolean
  /** Of the calls of a round, one in so many: large ones take longer. */
  readonly one_in?: number
}

/** What can be called and measured. */
export interface Subject {
  readonly name: string
  readonly port: number
  readonly path: string
  /** Head lines of a call. */
  readonly headersOf: (row: Row) => string
  /** Its processes by role, which may change from round to round. */
  readonly pids: () => ReadonlyMap<number, Role>
  readonly stop: () => Promise<void>
}

/** What is measured in addition. */
export interface Besides {
  /** The folder of another checkout. */
  readonly beside?: string | undefined
  /** The number of threads of Envoy in one more product. */
  readonly threads?: string | undefined
}

/** Plain Envoy, Envoy with a processor that only answers, and the product, as `agw start` runs it. */
export async function startSubjects(
  upstream_port: number,
  rows: readonly Row[],
  { beside, threads }: Besides = {},
): Promise<readonly Subject[]> {
  const subjects = [await plainEnvoy(upstream_port), await answeringProcessor(upstream_port)]
  subjects.push(await startProduct('the product', fromRoot(), upstream_port, rows))
  if (beside !== undefined) subjects.push(await startProduct('beside', beside, upstream_port, rows))
  if (threads !== undefined) {
    const more = { env: { AGW_ENVOY_CONCURRENCY: threads } }
    const name = `threads of Envoy: ${threads}`
    subjects.push(await startProduct(name, fromRoot(), upstream_port, rows, more))
  }
  return subjects
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

export interface Product extends Subject {
  readonly operator: Operator
  /** Its data directory. */
  readonly folder: string
}

export const isProduct = (subject: Subject): subject is Product => 'folder' in subject

export interface ProductOptions {
  /** Of each scope. */
  readonly custom_patterns?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Another checkout may be older, so it is started by its launcher and set up by its admin API, which change little. */
export async function startProduct(
  name: string,
  root: string,
  upstream_port: number,
  rows: readonly Row[],
  { custom_patterns = [], env = {} }: ProductOptions = {},
): Promise<Product> {
  const folder = tempFolder('whole')
  const [port, api, echo, forward] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const child = spawn(process.execPath, [join(root, 'dist', 'cli', 'bin.js'), 'start'], {
    cwd: folder,
    env: {
      ...process.env,
      AGW_PROXY_PORT: String(port),
      AGW_API_PORT: String(api),
      AGW_ECHO_PORT: String(echo),
      AGW_FORWARD_PORT: String(forward),
      AGW_DATA_DIR: folder,
      AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      ...env,
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
  const operator = operatorAt(url, token)
  const keys = await setUp(operator, upstream_port, rows, custom_patterns)
  return {
    name,
    port,
    path: `/http://127.0.0.1:${upstream_port}/v1/x`,
    headersOf: (row) => `authorization: Bearer ${keys.get(row) ?? ''}\r\n`,
    pids: () => rolesBelow(child.pid ?? 0),
    stop: () => end(child),
    operator,
    folder,
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** An agent a row, with one scope; returns their keys. */
async function setUp(
  operator: Operator,
  upstream_port: number,
  rows: readonly Row[],
  custom_patterns: readonly string[],
): Promise<ReadonlyMap<Row, string>> {
  const { integration_id } = await operator.makeIntegration(`http://127.0.0.1:${upstream_port}/v1`)
  const keys = new Map<Row, string>()
  for (const row of rows) {
    const { agent_id, api_key } = await operator.makeAgent()
    const other = { methods: ['DELETE'], paths: ['/**'], ...(row.asks ? { approval: {} } : {}) }
    const others = row.asks === undefined ? [] : [other]
    await operator.makeScope(agent_id, integration_id, {
      rules: [...others, { methods: ['GET', 'POST'], paths: ['/**'] }],
      injection_detection: { enabled: row.scans, sensitivity: 'medium', custom_patterns },
      rate_limiting: { requests_per_minute: row.limits ? RATE_PER_MINUTE : null },
    })
    keys.set(row, api_key)
  }
  return keys
}

const LOOKS: readonly (readonly [Role, RegExp])[] = [
  ['ext-proc', /ext-proc\/main\.js|agw-scan/],
  ['access log', /access-log\/main\.js|agw-access-log/],
  ['admin', /admin\/main\.js|agw-compress/],
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
    const stat = Number.isInteger(pid) ? processStat(pid) : null
    if (stat !== null) parents.set(pid, stat.parent)
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

/** µs of CPU time that the processes of each role have used. */
export function cpuMicros(pids: ReadonlyMap<number, Role>): Map<Role, number> {
  const sums = new Map<Role, number>()
  for (const [pid, role] of pids)
    sums.set(role, (sums.get(role) ?? 0) + (processStat(pid)?.cpu_us ?? 0))
  return sums
}
