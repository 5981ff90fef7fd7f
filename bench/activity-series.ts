import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import { mintActivityId } from '../core/activity/activity-id.ts'
import { recordEntries } from '../core/change/record-entries.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { newAdminIdentity, startAdmin, type KitAdmin } from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { until } from '../test/kit/until.ts'

const ORG = 'org_default'
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000)
const AGENTS = Number(process.env['BENCH_AGENTS'] ?? 50)
const BATCH = 500
const REPEATS = 20
/** The entries lie this far apart, as if they had come over a week. */
const SPACING_MS = (7 * 24 * 3_600_000) / ENTRIES
const HOUR_MS = 3_600_000
const REFUSALS = [
  ['permission_denied', 'permission_denied'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['injection_blocked', 'security_block'],
  ['request_rejected', 'integration_not_found'],
] as const

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Series and facets of a log with a million entries: times at the server, and what the counts take in the store. */
const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
const begin_ms = Date.now() - ENTRIES * SPACING_MS
for (let from = 0; from < ENTRIES; from += BATCH) {
  const pipeline = redis.pipeline()
  for (let i = from; i < from + BATCH; i++) {
    const at_ms = Math.floor(begin_ms + i * SPACING_MS)
    pipeline.xadd(REDIS_KEYS.activity(ORG), `${at_ms}-*`, 'e', JSON.stringify(made(i, at_ms)))
  }
  await pipeline.exec()
}
await recordEntries(redis, ORG, [made(ENTRIES, Date.now())])
const admin = await startAdmin(valkey.url, newAdminIdentity())
const started = performance.now()
await until(
  'all is indexed',
  async () => {
    const [last] = await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
    return (await redis.hget(REDIS_KEYS.activityDigest(ORG), 'position')) === last?.[0]
  },
  900_000,
)
print(`${ENTRIES} entries of ${AGENTS} agents, indexed in ${seconds(performance.now() - started)}`)
print(`log ${megabytes(await sizeOf(REDIS_KEYS.activity(ORG)))}`)
print(`indexes ${megabytes(await sizeOfAll(REDIS_KEYS.activityIndex(ORG, '*')))}`)
print(`counts ${megabytes(await sizeOfAll(REDIS_KEYS.activityCounts(ORG, '*')))}`)
const from = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString()
const paths = [
  'facets',
  `facets?from=${from(24)}`,
  `facets?from=${from(1)}`,
  'facets?agent_id=agt_7',
  'facets?decision=blocked&integration_id=int_3',
  'facets?q=agt_7',
  `series?by=event`,
  `series?by=reason&decision=blocked&count=calls`,
  `series?by=event&from=${from(0.25)}`,
  `series?by=event&from=${from(1)}`,
  `series?by=agent_id&from=${from(7 * 24)}`,
  `series?by=reason&decision=blocked&from=${from(7 * 24)}&step=7200`,
  `series?by=agent_id&decision=blocked&from=${from(24)}&step=60`,
  `series?by=event&agent_id=agt_7&from=${from(7 * 24)}`,
]
print('\nms at the client: first, median and slowest')
for (const path of paths) {
  const times: number[] = []
  for (let i = 0; i < REPEATS; i++) times.push(await timeOf(admin, path))
  const [first = 0] = times
  times.sort((a, b) => a - b)
  const shown = [first, times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0]
  print(
    `  ${path.replace(/from=[^&]*/, 'from=…').padEnd(64)} ${shown.map((ms) => ms.toFixed(0).padStart(5)).join(' ')}`,
  )
}
await admin.stop()
redis.disconnect()
await valkey.stop()

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Deterministic, so that runs compare. */
function made(i: number, at_ms: number): ActivityEntry {
  const dice = ((i * 2654435761) % 2 ** 32) / 2 ** 32
  const [event, reason] =
    dice < 0.93 ? (['request_allowed', null] as const) : (REFUSALS[i % 4] ?? REFUSALS[0])
  const agent = Math.floor((((i * 40503) % 65_536) / 65_536) * AGENTS)
  return {
    id: mintActivityId(at_ms),
    timestamp: new Date(at_ms).toISOString(),
    event,
    organization_id: ORG,
    agent_id: `agt_${agent}`,
    agent_name: `worker ${agent}`,
    key_id: `key_${agent}`,
    integration_id: `int_${(agent + (i % 3)) % 20}`,
    scope_id: `scp_${agent}`,
    rule: 0,
    method: 'POST',
    endpoint: '/v1/chat/completions',
    status: reason === null ? 200 : 403,
    decision: reason === null ? 'allowed' : 'blocked',
    reason,
    source_ip: '203.0.113.9',
    request_id: `7e8d9c54-6f0f-4a9f-9a35-${String(i).padStart(12, '0')}`,
    edge_id: 'edge-1',
    steps: [{ step: 'scope', outcome: 'pass', took_us: 12 }],
    duration_ms: 241.318,
    bytes_in: 2048,
    bytes_out: 1024,
    data: {},
  }
}

async function timeOf({ url, token }: KitAdmin, path: string): Promise<number> {
  const began = performance.now()
  const answer = await fetch(`${url}/admin/activity/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const body = await answer.text()
  if (answer.status !== 200) throw new Error(`${path}: ${body}`)
  return performance.now() - began
}

async function sizeOf(key: string): Promise<number> {
  return Number((await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)) ?? 0)
}

async function sizeOfAll(pattern: string): Promise<number> {
  let sum = 0
  for (const key of await redis.keys(pattern)) sum += await sizeOf(key)
  return sum
}
