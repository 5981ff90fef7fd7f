import { randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compressHour } from '../admin/audit/compress-hour.ts'
import { mintActivityId } from '../core/activity/activity-id.ts'
import { recordBlocks } from '../core/change/record-blocks.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { activityEntry } from '../test/kit/activity-entry.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- thirty-days [--entries 300000] [--rate 100] [--days 30]`: writes a part of the allowed calls of that time as
 * the access-log receiver does at that rate, measures what an entry takes in the store, its append-only file and the archive,
 * and how long searches take, and computes the rest. What is computed and not measured is named as such.
 */
const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '300000' },
    rate: { type: 'string', default: '100' },
    days: { type: 'string', default: '30' },
  },
})
const ORG = 'org_default'
/** The receiver writes ten blocks a second. */
const BLOCKS_PER_S = 10
const AGENTS = 200
const REPEATS = 20
const GIB = 2 ** 30
const DEFAULT_LOG_BYTES = GIB
const DEFAULT_ARCHIVE_BYTES = 50 * GIB
const DAY_S = 86_400

const entries = Math.min(Number(values.entries), 5_000_000)
const rate = Number(values.rate)
const total = rate * DAY_S * Number(values.days)
const perBlock = Math.min(64, Math.max(1, Math.round(rate / BLOCKS_PER_S)))
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
const archive = tempFolder('thirty-days')
const admin = await startAdmin(valkey.url, newAdminIdentity(), {
  AGW_ARCHIVE_DIR: archive,
  AGW_ARCHIVE_MIN_FREE_BYTES: '1048576',
})
const empty_bytes = await usedMemory(redis)
const began_ms = performance.now()
await until('the log has been indexed once', () => writeBlock(redis, 0))
for (let i = perBlock; i < entries; i += perBlock) await writeBlock(redis, i)
const filled_s = (performance.now() - began_ms) / 1000
await until('all is indexed', () => isIndexed(redis), 600_000)
const indexed_s = (performance.now() - began_ms) / 1000
const folder = join(archive, (await redis.get(REDIS_KEYS.installation)) ?? '', ORG)
await until('all is archived', () => linesArchived(redis), 600_000)
const archived_s = (performance.now() - began_ms) / 1000

const store_bytes = ((await usedMemory(redis)) - empty_bytes) / entries
const aof = /^aof_current_size:(\d+)/m.exec(await redis.info('persistence'))?.[1]
const aof_bytes = Number(aof) / entries
const plain_bytes = sizeOf(folder) / entries
const memory_bytes = await residentBytes(admin)
print(`${entries} of ${total} entries, ${perBlock} a block (${rate} calls/s)`)
print(
  `written in ${show(filled_s)} s, indexed after ${show(indexed_s)} s, archived after ${show(archived_s)} s`,
)
print('\nsearch, page of 50: median and slowest, ms')
for (const query of [
  '',
  'agent_id=agt_17',
  'integration_id=int_3',
  'decision=blocked',
  `request_id=${randomUUID()}`,
  'agent_id=nobody',
  'q=nowhere-to-be-found',
])
  print(`  ${(query || '(none)').slice(0, 40).padEnd(42)} ${await timesOf(admin, query)}`)
await admin.stop()
const signal = new AbortController().signal
for (const file of readdirSync(folder).filter((name) => name.endsWith('.ndjson')))
  await compressHour(folder, file, signal)
const gzip_bytes = sizeOf(folder) / entries

print('\nmeasured, bytes per entry')
print(`  store, with indexes                 ${show(store_bytes)}`)
print(`  append-only file, not rewritten     ${show(aof_bytes)}`)
print(`  archive, the hour being written     ${show(plain_bytes)}`)
print(`  archive, closed hours (gzip)        ${show(gzip_bytes)}`)
print(`  admin process after it, resident    ${(memory_bytes / 1e6).toFixed(0)} MB`)
print(
  `\ncomputed for ${values.days} days at ${rate} calls/s (${(total / 1e6).toFixed(0)} million entries)`,
)
print(`  store for all of it                 ${gigabytes(store_bytes * total)}`)
print(
  `  archive for all of it               ${gigabytes(gzip_bytes * total)} (not compressed ${gigabytes(plain_bytes * total)})`,
)
print(
  `  AGW_ACTIVITY_MAX_BYTES 1 GiB holds  ${hours(DEFAULT_LOG_BYTES / store_bytes)}: so far back can be searched`,
)
print(
  `  AGW_ARCHIVE_MAX_BYTES 50 GiB holds  ${hours(DEFAULT_ARCHIVE_BYTES / gzip_bytes)}: then alert archive_trimmed, once`,
)
print(
  `  2 GiB before the disk is full       alert archive_stopped, and the metric agw_archive_free_bytes before it`,
)
print(
  `  85 % of maxmemory                   alert store_memory; the log alone never takes more than half`,
)
redis.disconnect()
await valkey.stop()
process.exit(0)

function writeBlock(client: RedisClient, from: number): Promise<boolean> {
  const texts = Array.from({ length: perBlock }, (_, at) => JSON.stringify(entryOf(from + at)))
  return recordBlocks(client, ORG, texts)
}

/** As varied as the calls of some hundred agents: what differs from call to call does not compress. */
function entryOf(i: number): object {
  const now_ms = Date.now()
  return activityEntry('request_allowed', {
    id: mintActivityId(now_ms),
    agent_id: `agt_${i % AGENTS}`,
    agent_name: `worker ${i % AGENTS}`,
    key_id: `key_${i % AGENTS}`,
    integration_id: `int_${i % 20}`,
    scope_id: `scp_${i % AGENTS}`,
    rule: i % 3,
    endpoint: `/v1/threads/thread_${(i * 2654435761) % 100_000}/messages`,
    status: 200,
    decision: 'allowed',
    source_ip: `203.0.113.${i % 250}`,
    request_id: randomUUID(),
    edge_id: `edge-${1 + (i % 2)}`,
    steps: ['target', 'integration', 'agent', 'scope', 'rate', 'body', 'scan', 'credential'].map(
      (step, at) => ({ step, outcome: 'pass', took_us: 5 + ((i * 31 + at * 17) % 90) }),
    ),
    duration_ms: 100 + ((i * 7919) % 400_000) / 1000,
    bytes_in: 500 + ((i * 104_729) % 4_000),
    bytes_out: 800 + ((i * 1_299_709) % 9_000),
    data: { upstream: { outcome: 'answered' } },
  })
}

async function usedMemory(client: RedisClient): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
}

async function isIndexed(client: RedisClient): Promise<boolean> {
  const [newest] = await client.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
  return newest?.[0] === (await client.hget(REDIS_KEYS.activityDigest(ORG), 'position'))
}

async function linesArchived(client: RedisClient): Promise<boolean> {
  for (const key of await client.keys('*archive-heads*'))
    if (Number((await client.hget(key, ORG))?.split(' ')[0] ?? 0) >= entries) return true
  return false
}

function sizeOf(path: string): number {
  const files = readdirSync(path).filter((name) => /\.ndjson(\.gz)?$/.test(name))
  return files.reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
}

async function residentBytes({ url }: KitAdmin): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^agw_admin_process_resident_memory_bytes (\S+)/m.exec(text)?.[1])
}

async function timesOf({ url, token }: KitAdmin, query: string): Promise<string> {
  const times: number[] = []
  for (let i = 0; i < REPEATS; i++) {
    const asked_ms = performance.now()
    const answer = await fetch(`${url}/admin/activity?limit=50${query === '' ? '' : `&${query}`}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await answer.text()
    times.push(performance.now() - asked_ms)
  }
  times.sort((a, b) => a - b)
  return `${show(times[REPEATS / 2] ?? 0)}, ${show(times.at(-1) ?? 0)}`
}

function show(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0)
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(0)} GB`
}

function hours(held: number): string {
  const time_h = held / rate / 3_600
  return time_h < 72 ? `${show(time_h)} hours` : `${show(time_h / 24)} days`
}
