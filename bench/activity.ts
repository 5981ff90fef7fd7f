import { spawn } from 'node:child_process'
import { request } from 'node:http'
import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import type { EventName } from '../core/events.ts'
import { mintActivityId } from '../core/activity/activity-id.ts'
import { recordEntries } from '../core/change/record-entries.ts'
import { connectRedis } from '../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../core/redis/redis-keys.ts'
import type { RedisClient } from '../core/redis/run-script.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from '../test/kit/start-admin.ts'
import { startValkey } from '../test/kit/start-valkey.ts'
import { until } from '../test/kit/until.ts'
import { residentBytes } from './resident-bytes.ts'

const ORG = 'org_default'
const ENTRIES = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000)
/** This many additional processes only use CPU time. */
const BUSY = Number(process.env['BENCH_BUSY'] ?? 0)
/** They end by themselves, even if they are not stopped. */
const BURN = 'for (const end = Date.now() + 600_000; Date.now() < end; );'
const BATCH = 500
const AGENTS = 1000
const REPEATS = 30
/** The entries lie this far apart, as if they had come over a week. */
const SPACING_MS = (7 * 24 * 3_600_000) / ENTRIES

/**
 * The activity log with a million entries: what it takes in memory, how long each filter takes through the HTTP API,
 * and how an export behaves.
 */
export async function benchActivity(print: (line: string) => void): Promise<void> {
  const busy = Array.from({ length: BUSY }, () => spawn(process.execPath, ['-e', BURN]))
  process.once('exit', () => busy.map((child) => child.kill('SIGKILL')))
  const valkey = await startValkey()
  const redis = connectRedis(valkey.url, { name: 'bench', role: 'queue' })
  const filled = await fill(redis)
  print(`${ENTRIES} entries written in ${(filled.took_ms / 1000).toFixed(1)} s`)
  print(`the log takes ${megabytes(await memory(redis))} of the store`)
  const started = performance.now()
  const admin = await startAdmin(valkey.url, newAdminIdentity())
  const undigested = await ask(admin, 'event=mcp_tool_blocked')
  const later: number[] = []
  for (let i = 0; i < REPEATS; i++) later.push((await ask(admin, 'event=mcp_tool_blocked')).took_ms)
  print(
    `a filter while nothing is digested: first ${undigested.took_ms.toFixed(0)} ms, ${undigested.found} found, next_cursor ${undigested.next !== null}; ${REPEATS} more: ${show(later)}`,
  )
  await until('all is digested', () => isDigested(redis), 600_000)
  print(`digested in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  print(`log and indexes take ${megabytes(await memory(redis))} of the store`)
  const middle = new Date(Date.now() - 3.5 * 24 * 3_600_000).toISOString()
  const hour = new Date(Date.parse(middle) + 3_600_000).toISOString()
  const queries = [
    '',
    'event=request_allowed',
    'event=mcp_tool_blocked',
    'agent_id=agt_17',
    'integration_id=int_3',
    'decision=blocked',
    'decision=terminated',
    'q=agt_17',
    'q=nowhere-to-be-found',
    `from=${middle}&to=${hour}`,
    'agent_id=agt_17&decision=blocked',
    'event=permission_denied&integration_id=int_3&q=v1',
    'agent_id=nobody',
  ]
  print('\nfilter, page of 50: median and slowest of first pages and of those that follow')
  for (const query of queries) {
    const first = await repeat(admin, query)
    print(`  ${(query || '(none)').padEnd(60)} ${first}`)
  }
  const ids = filled.sample
  const times: number[] = []
  for (const id of ids) times.push((await get(admin, `/admin/activity/${id}`)).took_ms)
  print(
    `\n  by id: median ${median(times).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms`,
  )
  for (const format of ['ndjson', 'csv']) {
    const { took_ms, bytes, peak_rss, before_rss } = await exportAll(admin, format)
    print(
      `  export ${format}: ${megabytes(bytes)} in ${(took_ms / 1000).toFixed(1)} s; memory of the process ${megabytes(before_rss)} before, ${megabytes(peak_rss)} at most`,
    )
  }
  for (const child of busy) child.kill('SIGKILL')
  await admin.stop()
  redis.disconnect()
  await valkey.stop()
}

const EVENTS: readonly (readonly [EventName, ActivityEntry['decision'], number])[] = [
  ['request_allowed', 'allowed', 0.9],
  ['permission_denied', 'blocked', 0.97],
  ['rate_limit_exceeded', 'blocked', 0.99],
  ['request_rejected', 'terminated', 0.9995],
  ['mcp_tool_blocked', 'blocked', 1],
]

async function fill(redis: RedisClient): Promise<{ took_ms: number; sample: string[] }> {
  const started = performance.now()
  const sample: string[] = []
  const begin_ms = Date.now() - ENTRIES * SPACING_MS
  const key = REDIS_KEYS.activity(ORG)
  for (let from = 0; from < ENTRIES; from += BATCH) {
    const pipeline = redis.pipeline()
    for (let i = from; i < from + BATCH; i++) {
      const at_ms = Math.floor(begin_ms + i * SPACING_MS)
      const entry = made(i, at_ms)
      if (i % 40_000 === 0) sample.push(entry.id)
      pipeline.xadd(key, `${at_ms}-*`, 'e', JSON.stringify(entry))
    }
    await pipeline.exec()
  }
  await recordEntries(redis, ORG, [made(ENTRIES, Date.now())])
  return { took_ms: performance.now() - started, sample }
}

/** Deterministic, so that runs compare. */
function made(i: number, at_ms: number): ActivityEntry {
  const dice = ((i * 2654435761) % 2 ** 32) / 2 ** 32
  const [event, decision] = EVENTS.find(([, , up_to]) => dice < up_to) ?? [
    'request_allowed',
    'allowed',
  ]
  const agent = i % AGENTS
  return {
    id: mintActivityId(at_ms),
    timestamp: new Date(at_ms).toISOString(),
    event,
    organization_id: ORG,
    agent_id: `agt_${agent}`,
    agent_name: `worker ${agent}`,
    key_id: `key_${agent}`,
    integration_id: `int_${i % 20}`,
    scope_id: `scp_${agent}`,
    rule: 0,
    method: 'POST',
    endpoint: '/v1/chat/completions',
    status: decision === 'allowed' ? 200 : 403,
    decision,
    reason: decision === 'allowed' ? null : 'permission_denied',
    source_ip: '203.0.113.9',
    request_id: '7e8d9c54-6f0f-4a9f-9a35-3f3f7a1cf0b1',
    edge_id: 'edge-1',
    steps: ['target', 'integration', 'agent', 'scope', 'body', 'credential'].map((step) => ({
      step,
      outcome: 'pass' as const,
      took_us: 12,
    })),
    duration_ms: 241.318,
    bytes_in: 2048,
    bytes_out: 4096,
    data: {},
  }
}

async function isDigested(redis: RedisClient): Promise<boolean> {
  const [newest] = await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
  return newest?.[0] === (await redis.hget(REDIS_KEYS.activityDigest(ORG), 'position'))
}

const memory = async (redis: RedisClient): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])

async function repeat(admin: KitAdmin, query: string): Promise<string> {
  const firsts: number[] = []
  const others: number[] = []
  let pages = 0
  let found = 0
  for (let i = 0; i < REPEATS; i++) firsts.push((await ask(admin, query)).took_ms)
  for (let cursor: string | null = ''; cursor !== null && pages < REPEATS; pages++) {
    const page: Page = await ask(admin, `${query}&cursor=${cursor}`.replace(/&cursor=$/, ''))
    if (pages > 0) others.push(page.took_ms)
    found += page.found
    cursor = page.next
  }
  return `first ${show(firsts)}; following ${show(others)}; ${found} on ${pages} pages`
}

const show = (times: readonly number[]): string =>
  times.length === 0
    ? '—'
    : `${median(times).toFixed(1).padStart(6)} ms, ${Math.max(...times)
        .toFixed(0)
        .padStart(4)} ms`

interface Page {
  readonly took_ms: number
  readonly found: number
  readonly next: string | null
}

async function ask(admin: KitAdmin, query: string): Promise<Page> {
  const { took_ms, text } = await get(admin, `/admin/activity?limit=50${query ? `&${query}` : ''}`)
  const { data, next_cursor } = JSON.parse(text) as { data: unknown[]; next_cursor: string | null }
  return { took_ms, found: data.length, next: next_cursor }
}

async function get(admin: KitAdmin, path: string): Promise<{ took_ms: number; text: string }> {
  const started = performance.now()
  const answer = await fetch(admin.url + path, {
    headers: { authorization: `Bearer ${admin.token}` },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return { took_ms: performance.now() - started, text }
}

function exportAll(
  admin: KitAdmin,
  format: string,
): Promise<{ took_ms: number; bytes: number; peak_rss: number; before_rss: number }> {
  const started = performance.now()
  const before_rss = residentBytes(admin.pid)
  let peak_rss = before_rss
  let bytes = 0
  return new Promise((resolve, reject) => {
    const call = request(`${admin.url}/admin/activity/export?format=${format}`, {
      headers: { authorization: `Bearer ${admin.token}` },
      agent: false,
    })
    const timer = setInterval(() => {
      peak_rss = Math.max(peak_rss, residentBytes(admin.pid))
    }, 50)
    call.once('error', reject)
    call.once('response', (answer) => {
      answer.on('data', (part: Buffer) => {
        bytes += part.length
      })
      answer.once('end', () => {
        clearInterval(timer)
        resolve({ took_ms: performance.now() - started, bytes, peak_rss, before_rss })
      })
    })
    call.end()
  })
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`

if (import.meta.filename === process.argv[1]) {
  await benchActivity((line) => process.stdout.write(`${line}\n`))
  process.exit(0)
}
