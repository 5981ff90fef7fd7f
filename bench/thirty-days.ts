import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ArchiveChain } from '../admin/audit/archive-chain.ts'
import { compressHour } from '../admin/audit/compress-hour.ts'
import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import { mintActivityId } from '../core/activity/activity-id.ts'
import { archiveKeys, archiveRoots } from '../core/activity/archive-line.ts'
import { recordBlocks } from '../core/change/record-blocks.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { parseKeyRing } from '../core/keys/seal.ts'
import { activityEntry } from '../test/kit/activity-entry.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { tempFolder } from '../test/kit/temp-folder.ts'
import { until } from '../test/kit/until.ts'

/**
 * `npm run bench -- thirty-days [--entries 300000] [--rate 100] [--days 30] [--hour-entries 360000]`: writes a part of the
 * allowed calls of that time as the access-log receiver does at that rate, measures what an entry takes in the store, its
 * append-only file and the archive, and how long searches take. Then it makes an archive of as many hours as that time has, two
 * of them with as many entries as at that rate and the others with few, and searches it while the store has none of them.
 * What is computed and not measured is named as such.
 */
const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '300000' },
    rate: { type: 'string', default: '100' },
    days: { type: 'string', default: '30' },
    'hour-entries': { type: 'string', default: '360000' },
  },
})
const ORG = 'org_default'
/** The receiver writes ten blocks a second. */
const BLOCKS_PER_S = 10
const HOUR_MS = 3_600_000
const FULL_HOURS = 2
const THIN_ENTRIES = 1_000
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
const identity = newAdminIdentity()
const settings = { AGW_ARCHIVE_DIR: archive, AGW_ARCHIVE_MIN_FREE_BYTES: '1048576' }
const admin = await startAdmin(valkey.url, identity, settings)
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
await measureOlder()

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

/** The same searches where only the archive has the entries. */
async function measureOlder(): Promise<void> {
  await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', '=', 0)
  rmSync(folder, { recursive: true })
  const keys = archiveKeys(archiveRoots(parseKeyRing(identity.encryption_key)), ORG)
  const chain = new ArchiveChain(folder, keys)
  const hours = Number(values.days) * 24
  const full = Number(values['hour-entries'])
  const begin_ms = Math.floor(Date.now() / HOUR_MS - hours - 1) * HOUR_MS
  const first = entryOf(0)
  let index_bytes = 0
  let file_bytes = 0
  let cpu_s = 0
  for (let hour = 0; hour < hours; hour++) {
    const isFull = hour >= hours - FULL_HOURS
    await fillHour(
      chain,
      begin_ms + hour * HOUR_MS,
      isFull ? full : THIN_ENTRIES,
      hour === 0 ? first : null,
    )
    if (!isFull) continue
    const name = new Date(begin_ms + hour * HOUR_MS).toISOString().slice(0, 13)
    const began = process.cpuUsage()
    await compressHour(folder, `${name}.ndjson`, new AbortController().signal)
    const used = process.cpuUsage(began)
    cpu_s += (used.user + used.system) / 1e6
    index_bytes += statSync(join(folder, `${name}.index`)).size
    file_bytes += statSync(join(folder, `${name}.ndjson.gz`)).size
  }
  while (await chain.compressNext(new AbortController().signal));
  const count = full * FULL_HOURS + THIN_ENTRIES * (hours - FULL_HOURS)
  const again = await startAdmin(valkey.url, identity, settings)
  const before_bytes = await residentBytes(again)
  print(`\narchive of ${hours} hours, ${count} entries: of the hours with ${full} entries`)
  print(
    `  bytes per entry                     ${show(file_bytes / full / FULL_HOURS)}, index ${show(index_bytes / full / FULL_HOURS)}`,
  )
  print(`  to compress and index, CPU per entry ${show((cpu_s * 1e6) / full / FULL_HOURS)} µs`)
  print('search of the archive: requests, ms of all of them, slowest, entries found')
  for (const query of [
    '',
    'agent_id=agt_17',
    'agent_id=agt_rare',
    'agent_id=agt_rare',
    'agent_id=nobody',
    `request_id=${first.request_id}`,
    `request_id=${first.request_id}`,
    `request_id=${randomUUID()}`,
  ])
    print(
      `  ${(query || '(none)').slice(0, 34).padEnd(36)} ${(await searchOlder(again, query)).text}`,
    )
  const { text, requests, ms } = await searchOlder(again, 'q=nowhere-to-be-found')
  print(`  ${'q=nowhere-to-be-found, to the end'.padEnd(36)} ${text}`)
  print(
    `  for a million entries ${show((requests / count) * 1e6)} requests, ${show((ms / count) * 1e3)} s; ` +
      `computed for ${(total / 1e6).toFixed(0)} million: ${((requests / count) * total).toFixed(0)} requests, ${(((ms / count) * total) / 60_000).toFixed(0)} minutes`,
  )
  print(
    `  admin process, before and after     ${(before_bytes / 1e6).toFixed(0)} and ${((await residentBytes(again)) / 1e6).toFixed(0)} MB`,
  )
  print(
    `  computed: indexes for all of it     ${show(((index_bytes / full / FULL_HOURS) * total) / 1e9)} GB`,
  )
  await again.stop()
}

async function fillHour(
  chain: ArchiveChain,
  hour_ms: number,
  count: number,
  rare: ReturnType<typeof entryOf> | null,
): Promise<void> {
  const STEP = 5_000
  for (let from = 0; from < count; from += STEP) {
    const { n } = chain.head
    await chain.append(
      Array.from({ length: Math.min(STEP, count - from) }, (_, i) => {
        const at_ms = hour_ms + Math.floor(((from + i) * HOUR_MS) / count)
        const entry =
          rare !== null && from + i === 0 ? { ...rare, agent_id: 'agt_rare' } : entryOf(from + i)
        const entry_text = JSON.stringify({ ...entry, timestamp: new Date(at_ms).toISOString() })
        return { n: n + i + 1, place: `${at_ms}-${i}`, entry_text }
      }),
    )
  }
}

/** Follows the cursor to the first result, or the end. */
async function searchOlder(
  { url, token }: KitAdmin,
  query: string,
): Promise<{ readonly text: string; readonly requests: number; readonly ms: number }> {
  const times: number[] = []
  let found = 0
  for (let cursor = ''; ; ) {
    const asked_ms = performance.now()
    const answer = await fetch(`${url}/admin/activity?limit=50&${query}${cursor}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const body = (await answer.json()) as { data: unknown[]; next_cursor: string | null }
    times.push(performance.now() - asked_ms)
    found += body.data.length
    if (found > 0 || body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  const ms = times.reduce((sum, one) => sum + one, 0)
  const text = `${times.length}, ${show(ms)}, ${show(Math.max(...times))}, ${found}`
  return { text, requests: times.length, ms }
}

/** As varied as the calls of some hundred agents: what differs from call to call does not compress. */
function entryOf(i: number): ActivityEntry {
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
