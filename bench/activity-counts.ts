import { readFileSync, readdirSync } from 'node:fs'
import { ActivityTally } from '../admin/activity/activity-tally.ts'
import { digestLog, readDigestPlace } from '../admin/activity/digest-log.ts'
import { RequestLoad } from '../admin/context/request-load.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import { ActivityRecorder } from '../ext-proc/record/activity-recorder.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { fillActivity } from './fill-activity.ts'

// `npm run bench -- activity-counts`: what the counts behind charts and facets cost: µs of CPU per entry where the log is indexed,
// with and without them in alternating rounds, and the memory of a million entries. The switch is in this bench alone.

const ORG = 'org_default'
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 100_000)
const ROUNDS = 5
const BATCH = 2_000
const MILLION = 1_000_000

interface Sample {
  readonly admin_us: number
  readonly store_us: number
}

const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
const counting = (['addEntry', 'addBlock'] as const).map(
  (name) => [name, Object.getOwnPropertyDescriptor(ActivityTally.prototype, name) ?? {}] as const,
)
const notCounting = { value: () => undefined, configurable: true }
print(`${ENTRIES} entries of 50 agents at 1,000 a second; medians of ${ROUNDS} rounds`)
print('| log | counts | admin, µs of CPU per entry | store, µs of CPU per entry |')
print('|---|---|---|---|')
await measure('calls that were allowed, in blocks', fillBlocks)
await measure('entries one by one', () => fillActivity(redis, ENTRIES, ENTRIES))
print('\nOver a week, one by one: MB of the store per million entries')
await redis.flushall()
await fillActivity(redis, ENTRIES)
await indexAll()
print(`  log      ${await megabytes(REDIS_KEYS.activity(ORG))}`)
print(`  indexes  ${await megabytes(REDIS_KEYS.activityIndex(ORG, '*'))}`)
print(`  counts   ${await megabytes(REDIS_KEYS.activityCounts(ORG, '*'))}`)
redis.disconnect()
await valkey.stop()

async function measure(log: string, fill: () => Promise<unknown>): Promise<void> {
  await redis.flushall()
  await fill()
  const samples: Record<'without' | 'with', Sample[]> = { without: [], with: [] }
  await indexAll()
  for (let round = 0; round < ROUNDS; round++)
    for (const kind of ['with', 'without'] as const) {
      count(kind === 'with')
      samples[kind].push(await indexAll())
    }
  count(true)
  for (const kind of ['without', 'with'] as const) {
    const [admin, store] = (['admin_us', 'store_us'] as const).map((member) =>
      median(samples[kind].map((sample) => sample[member])).toFixed(2),
    )
    print(`| ${log} | ${kind} | ${admin} | ${store} |`)
  }
}

/** As the access-log receiver writes them. */
async function fillBlocks(): Promise<void> {
  const make = await fillActivity(redis, 0)
  // Blocks are written once the log has indexes that go with them.
  await readDigestPlace(redis, ORG)
  const recorder = new ActivityRecorder({ redis, nowMs: Date.now, log: console })
  for (let i = 0; i < ENTRIES; i++) {
    const entry = make(i, Date.now() - ENTRIES + i)
    const call = {
      event: 'request_allowed',
      status: 200,
      decision: 'allowed',
      reason: null,
    } as const
    recorder.finished(ORG, `\t${JSON.stringify({ ...entry, ...call })}\n`)
    if (i % BATCH === 0) await recorder.flush()
  }
  await recorder.stop()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function count(isOn: boolean): void {
  for (const [name, descriptor] of counting)
    Object.defineProperty(ActivityTally.prototype, name, isOn ? descriptor : notCounting)
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

async function megabytes(pattern: string): Promise<string> {
  let bytes = 0
  for (const key of await redis.keys(pattern))
    bytes += Number((await redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)) ?? 0)
  return ((bytes / ENTRIES) * (MILLION / 1e6)).toFixed(1)
}
