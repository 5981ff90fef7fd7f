import { readFileSync, readdirSync } from 'node:fs'
import { ActivityTally } from '../admin/activity/activity-tally.ts'
import { digestLog, readDigestPlace } from '../admin/activity/digest-log.ts'
import { RequestLoad } from '../admin/context/request-load.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { fillActivity } from './fill-activity.ts'

// `npm run bench -- activity-counts`: what the counts behind charts and facets cost: µs of CPU per entry where the log is indexed,
// with and without them in alternating rounds, and the memory of a million entries. The switch is in this bench alone.

const ORG = 'org_default'
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 100_000)
const ROUNDS = 5
const MILLION = 1_000_000

interface Sample {
  readonly admin_us: number
  readonly store_us: number
}

const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
await fillActivity(redis, ENTRIES)
const counting = Object.getOwnPropertyDescriptor(ActivityTally.prototype, 'addEntry') ?? {}
const notCounting = { value: () => undefined, configurable: true }
const samples: Record<'with' | 'without', Sample[]> = { with: [], without: [] }
await indexAll()
for (let round = 0; round < ROUNDS; round++)
  for (const kind of ['with', 'without'] as const) {
    count(kind === 'with')
    samples[kind].push(await indexAll())
  }
count(true)
await indexAll()
print(`${ENTRIES} entries one by one over a week, 50 agents; medians of ${ROUNDS} rounds`)
print('| | admin, µs of CPU per entry | store, µs of CPU per entry |')
print('|---|---|---|')
for (const kind of ['without', 'with'] as const)
  print(
    `| ${kind} counts | ${median(kind, 'admin_us').toFixed(1)} | ${median(kind, 'store_us').toFixed(1)} |`,
  )
print('\n| MB of the store per million entries | |\n|---|---|')
print(`| log | ${await megabytes(REDIS_KEYS.activity(ORG))} |`)
print(`| indexes | ${await megabytes(REDIS_KEYS.activityIndex(ORG, '*'))} |`)
print(`| counts | ${await megabytes(REDIS_KEYS.activityCounts(ORG, '*'))} |`)
redis.disconnect()
await valkey.stop()

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function count(isOn: boolean): void {
  Object.defineProperty(ActivityTally.prototype, 'addEntry', isOn ? counting : notCounting)
}

/** Indexes the whole log again. */
async function indexAll(): Promise<Sample> {
  const old = [REDIS_KEYS.activityIndex(ORG, '*'), REDIS_KEYS.activityCounts(ORG, '*')]
  for (const pattern of old) {
    const keys = await redis.keys(pattern)
    if (keys.length > 0) await redis.unlink(keys)
  }
  const whole = [REDIS_KEYS.activityDigest, REDIS_KEYS.activityIndexes]
  await redis.unlink(...[...whole, REDIS_KEYS.activityCountBuckets].map((key) => key(ORG)))
  const parts = { redis, metrics: { killed: () => undefined }, load: new RequestLoad() }
  let place = await readDigestPlace(redis, ORG)
  const before = { admin: process.cpuUsage(), store_us: storeUs() }
  for (;;) {
    const digested = await digestLog(parts, ORG, place)
    if (digested.kind === 'overtaken') throw new Error('nobody else indexes this log')
    place = { ...place, position: digested.position }
    if (!digested.has_more) break
  }
  const { user, system } = process.cpuUsage(before.admin)
  return {
    admin_us: (user + system) / ENTRIES,
    store_us: (storeUs() - before.store_us) / ENTRIES,
  }
}

/** Of all threads. */
function storeUs(): number {
  const tasks = `/proc/${valkey.pid()}/task`
  const spent = readdirSync(tasks).map((thread) =>
    Number(readFileSync(`${tasks}/${thread}/schedstat`, 'latin1').split(' ')[0]),
  )
  return spent.reduce((sum, ns) => sum + ns, 0) / 1000
}

function median(kind: 'with' | 'without', member: keyof Sample): number {
  const sorted = samples[kind].map((sample) => sample[member]).sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

async function megabytes(pattern: string): Promise<string> {
  let bytes = 0
  for (const key of await redis.keys(pattern))
    bytes += Number((await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)) ?? 0)
  return ((bytes / ENTRIES) * (MILLION / 1e6)).toFixed(1)
}
