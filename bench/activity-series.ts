import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { newAdminIdentity, startAdmin, type KitAdmin } from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { until } from '../test/kit/until.ts'
import { fillActivity } from './fill-activity.ts'

const ORG = 'org_default'
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000)
const AGENTS = Number(process.env['BENCH_AGENTS'] ?? 50)
const REPEATS = 20
const HOUR_MS = 3_600_000

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Series and facets of a log with a million entries: times at the server, and what the counts take in the store. */
const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
await fillActivity(redis, ENTRIES)
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
