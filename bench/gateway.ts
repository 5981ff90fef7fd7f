import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { hashKey, lastFour, mintKey } from '../core/api-key.ts'
import { EXT_PROC_NODE_ARGS } from '../core/ext-proc-node-args.ts'
import { SCOPE_DEFAULTS } from '../core/model.ts'
import { commit } from '../core/change/commit.ts'
import { processStat } from '../core/process-stat.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { fromRoot } from '../core/root.ts'
import { parseKeyRing } from '../core/seal.ts'
import { sealAuth } from '../core/store/credential-binding.ts'
import { startEnvoy } from '../test/kit/start-envoy.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { startPlainEnvoy } from './start-plain-envoy.ts'
import type { LoadResult } from './load.ts'
import { askLoad, startLoad } from './start-load.ts'

const ROUNDS = 5
const CALLS = 4_000
const WARM_UP_CALLS = 12_000
const CONNECTIONS = 16
const BODY_BYTES = 2_048

interface Setup {
  readonly name: string
  readonly port: number
  readonly path: string
  readonly envoy_pid: number
  /** Null where Envoy works alone. */
  readonly processor_pid: number | null
  /** Of Envoy's access log. */
  readonly receiver_pid: number | null
  readonly headers: string
}

interface Sample {
  readonly envoy_us: number
  readonly processor_us: number
  readonly receiver_us: number
  readonly calls_per_s: number
}

/**
 * CPU time per call, as the operating system counts it, of plain Envoy, of Envoy with a processor that only answers, and
 * of the whole product (scan off, no rate limit, decision records on; as `agw start` runs it, with a receiver of the access
 * log), in interleaved rounds of one run.
 */
async function benchGateway(print: (line: string) => void): Promise<void> {
  const children: ChildProcess[] = []
  const startChild = async (
    file: string,
    env: NodeJS.ProcessEnv,
    args: string[] = [],
  ): Promise<[ChildProcess, unknown]> => {
    const child = fork(fromRoot('dist', file), {
      env: { ...process.env, ...env },
      execArgv: args,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    children.push(child)
    const [message] = (await once(child, 'message')) as [unknown]
    return [child, message]
  }
  const { load, upstream_port: port, stop: stopLoad } = await startLoad()
  const folder = tempFolder('bench')
  const valkey = await startValkey()
  const product = await startProduct(valkey.url, folder, port, startChild)
  const direct = await startPlainEnvoy(port)
  const setups: Setup[] = [
    {
      name: 'plain Envoy',
      port: direct.port,
      path: '/v1/x',
      envoy_pid: direct.pid,
      processor_pid: null,
      receiver_pid: null,
      headers: '',
    },
  ]
  const stops = [direct.stop, product.stop]
  for (const form of ['reflected', 'by-hand']) {
    const address = `unix:${join(folder, `${form}.sock`)}`
    const secret = randomBytes(24).toString('hex')
    const [child] = await startChild('bench/answering-processor.js', {
      BENCH_FORM: form,
      BENCH_ADDRESS: address,
      BENCH_SECRET: secret,
    })
    const envoy = await startEnvoy(
      { AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' },
      { ext_proc_addresses: [address], verdict_secret: secret },
    )
    stops.push(envoy.stop)
    const name = form === 'reflected' ? 'answering processor' : 'answering, our codec'
    setups.push({
      name,
      port: envoy.port,
      path: `/http://127.0.0.1:${port}/v1/x`,
      envoy_pid: envoy.pid,
      processor_pid: child.pid ?? 0,
      receiver_pid: null,
      headers: '',
    })
  }
  setups.push(product.setup)
  try {
    for (const body of [0, BODY_BYTES]) report(body, await measure(setups, body, load), print)
  } finally {
    for (const stop of stops) await stop()
    for (const child of children) child.kill('SIGTERM')
    stopLoad()
    await valkey.stop()
  }
}

async function startProduct(
  redis_url: string,
  folder: string,
  port: number,
  startChild: (
    file: string,
    env: NodeJS.ProcessEnv,
    args?: string[],
  ) => Promise<[ChildProcess, unknown]>,
): Promise<{ readonly setup: Setup; readonly stop: () => Promise<void> }> {
  const encryption_key = randomBytes(32).toString('base64')
  const secret = randomBytes(24).toString('hex')
  const address = `unix:${join(folder, 'product.sock')}`
  const access_log_address = `unix:${join(folder, 'access-log.sock')}`
  const key = mintKey('live')
  const redis = connectRedis(redis_url, { name: 'bench', role: 'queue' })
  await storePolicy(redis, encryption_key, key, port)
  redis.disconnect()
  const [child] = await startChild(
    'ext-proc/main.js',
    {
      REDIS_URL: redis_url,
      AGW_ENCRYPTION_KEY: encryption_key,
      AGW_VERDICT_SECRET: secret,
      AGW_EXT_PROC_ADDRESS: address,
      AGW_ACCESS_LOG_ADDRESS: access_log_address,
      AGW_EDGE_ID: 'bench',
    },
    [...EXT_PROC_NODE_ARGS],
  )
  const [receiver] = await startChild('ext-proc/access-log/main.js', {
    REDIS_URL: redis_url,
    AGW_ACCESS_LOG_ADDRESS: access_log_address,
    AGW_EDGE_ID: 'bench-log',
  })
  const envoy = await startEnvoy(
    { AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' },
    { ext_proc_addresses: [address], access_log_address, verdict_secret: secret },
  )
  return {
    setup: {
      name: 'the product',
      port: envoy.port,
      path: `/http://127.0.0.1:${port}/v1/x`,
      envoy_pid: envoy.pid,
      processor_pid: child.pid ?? 0,
      receiver_pid: receiver.pid ?? 0,
      headers: `authorization: Bearer ${key}\r\n`,
    },
    stop: envoy.stop,
  }
}

async function storePolicy(
  redis: ReturnType<typeof connectRedis>,
  encryption_key: string,
  key: string,
  port: number,
): Promise<void> {
  const organization_id = 'org_default'
  const created_at = new Date().toISOString()
  const integration = {
    integration_id: 'int_bench',
    organization_id,
    name: 'bench',
    base_url: `http://127.0.0.1:${port}/v1`,
    strip_agent_id: true,
    allow_empty_segments: false,
    created_at,
  }
  const auth = sealAuth(parseKeyRing(encryption_key), {
    ...integration,
    auth: { type: 'bearer', token: 'stored' },
  })
  const agent = {
    agent_id: 'agt_bench',
    agent_name: 'bench',
    organization_id,
    status: 'active',
    revision: 0,
    created_at,
    killed_at: null,
    kill_reason: null,
    metadata: {},
  }
  const scope = {
    ...SCOPE_DEFAULTS,
    scope_id: 'scp_bench',
    organization_id,
    name: 'bench',
    agent_id: 'agt_bench',
    integration_id: 'int_bench',
    rules: [{ methods: ['GET', 'POST'], paths: ['/**'] }],
    injection_detection: { ...SCOPE_DEFAULTS.injection_detection, enabled: false },
    rate_limiting: { ...SCOPE_DEFAULTS.rate_limiting, requests_per_minute: null },
    created_at,
  }
  const record = {
    key_id: 'key_bench',
    organization_id,
    agent_id: 'agt_bench',
    hash: hashKey(key),
    last4: lastFour(key),
    name: 'bench',
    agent_ids: null,
    uses: ['proxy'],
    created_at,
    expires_at: null,
    revoked_at: null,
    revoked_by: null,
  }
  const writes = [
    ['SET', REDIS_KEYS.installation, 'bench'],
    [
      'HSET',
      REDIS_KEYS.integrations(organization_id),
      'int_bench',
      JSON.stringify({ ...integration, auth }),
    ],
    ['HSET', REDIS_KEYS.agents(organization_id), 'agt_bench', JSON.stringify(agent)],
    [
      'HSET',
      REDIS_KEYS.agentScopes(organization_id, 'agt_bench'),
      'scp_bench',
      JSON.stringify(scope),
    ],
    ['HSET', REDIS_KEYS.apiKeys(organization_id), 'key_bench', JSON.stringify(record)],
    ['HSET', REDIS_KEYS.apiKeyHashes, record.hash, `${organization_id} key_bench`],
  ] as const
  await commit(redis, { guards: [], writes, targets: [] }, 1000)
}

async function measure(
  setups: readonly Setup[],
  body_bytes: number,
  load: ChildProcess,
): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(setups.map(({ name }) => [name, []]))
  for (const setup of setups) await runLoad(load, setup, body_bytes, WARM_UP_CALLS)
  for (let round = 0; round < ROUNDS; round++) {
    for (const setup of setups) {
      const envoy_s = cpuSeconds(setup.envoy_pid)
      const processor_s = cpuSeconds(setup.processor_pid)
      const receiver_s = cpuSeconds(setup.receiver_pid)
      const { took_ms, failed } = await runLoad(load, setup, body_bytes, CALLS)
      if (failed > 0)
        throw new Error(`${setup.name}: ${failed} of ${CALLS} calls were not answered with 200`)
      samples.get(setup.name)?.push({
        envoy_us: ((cpuSeconds(setup.envoy_pid) - envoy_s) / CALLS) * 1e6,
        processor_us: ((cpuSeconds(setup.processor_pid) - processor_s) / CALLS) * 1e6,
        receiver_us: ((cpuSeconds(setup.receiver_pid) - receiver_s) / CALLS) * 1e6,
        calls_per_s: (CALLS / took_ms) * 1000,
      })
    }
  }
  return samples
}

async function runLoad(
  load: ChildProcess,
  { port, path, headers }: Setup,
  body_bytes: number,
  calls: number,
): Promise<LoadResult> {
  const body =
    body_bytes === 0 ? '' : JSON.stringify({ model: 'm', text: 'a'.repeat(body_bytes - 24) })
  const request =
    body_bytes === 0
      ? `GET ${path} HTTP/1.1\r\nhost: bench\r\n${headers}\r\n`
      : `POST ${path} HTTP/1.1\r\nhost: bench\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  return await askLoad(load, { port, connections: CONNECTIONS, calls, request })
}

/** User and system time of a process so far. */
const cpuSeconds = (pid: number | null): number =>
  pid === null ? 0 : (processStat(pid)?.cpu_us ?? 0) / 1e6

function report(
  body_bytes: number,
  samples: ReadonlyMap<string, readonly Sample[]>,
  print: (line: string) => void,
): void {
  print(
    `\n${body_bytes === 0 ? 'GET without a body' : `POST with ${body_bytes} bytes`}: CPU time per call, median of ${ROUNDS} rounds of ${CALLS} calls`,
  )
  const rows = [...samples].map(([name, all]) => ({
    name,
    envoy_us: median(all.map((sample) => sample.envoy_us)),
    processor_us: median(all.map((sample) => sample.processor_us)),
    receiver_us: median(all.map((sample) => sample.receiver_us)),
    calls_per_s: median(all.map((sample) => sample.calls_per_s)),
  }))
  const micros = (us: number): string => `${us.toFixed(0).padStart(4)} µs`
  for (const { name, envoy_us, processor_us, receiver_us, calls_per_s } of rows)
    print(
      `  ${name.padEnd(22)} Envoy ${micros(envoy_us)}   processor ${micros(processor_us)}   access log ${micros(receiver_us)}   ${calls_per_s.toFixed(0).padStart(6)} calls/s`,
    )
  const product = rows.find(({ name }) => name === 'the product')
  const processor = product?.processor_us ?? Number.NaN
  const both = processor + (product?.receiver_us ?? 0)
  for (const name of ['answering processor', 'answering, our codec']) {
    const baseline = rows.find((row) => row.name === name)?.processor_us ?? Number.NaN
    const times = (us: number): string => (us / baseline).toFixed(2)
    print(
      `  the product's processor costs ${times(processor)} × the ${name}, with the access log ${times(both)} ×`,
    )
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

await benchGateway((line) => process.stdout.write(`${line}\n`))
