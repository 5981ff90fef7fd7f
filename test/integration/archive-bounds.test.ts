import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startArchiver } from '../../admin/audit/archiver.ts'
import { AdminMetrics } from '../../admin/metrics/admin-metrics.ts'
import { LogWatch } from '../../admin/context/log-watch.ts'
import { RequestLoad } from '../../admin/context/request-load.ts'
import { archiveRoots } from '../../core/activity/archive-line.ts'
import { listHourFiles } from '../../core/activity/list-hour-files.ts'
import { verifyArchive } from '../../core/activity/verify-archive.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const OTHER = 'org_other'
const HOUR_MS = 3_600_000
const BEGIN_MS = Date.parse('2026-03-01T00:00:00Z')
const ring = parseKeyRing(randomBytes(32).toString('base64'))
const measured: Record<string, number> = {}
let redis: RedisClient
let stop: (() => Promise<void>) | null = null

before(async () => {
  redis = (await unitStore()).redis
})
beforeEach(async () => {
  await redis.flushall()
  await redis.set(REDIS_KEYS.installation, 'unit')
  for (const org of [ORG, OTHER]) await redis.hset(REDIS_KEYS.organizations, org, '{}')
})
after(() => stop?.())

/** Entries that the store took in an hour; about 600 bytes each. */
async function write(organization_id: string, hour: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const place = `${BEGIN_MS + hour * HOUR_MS}-${i + 1}`
    const entry = activityEntry('permission_denied', { organization_id })
    await redis.xadd(REDIS_KEYS.activity(organization_id), place, 'e', JSON.stringify(entry))
  }
}

interface Started {
  readonly folder: string
  readonly disk: { free: number }
  readonly clock: { ms: number }
}

function start(
  bounds: {
    readonly max_bytes?: number
    readonly free?: number
    readonly retention_ms?: number
  } = {},
  folder = tempFolder('archive-bounds'),
): Started {
  const disk = { free: bounds.free ?? 1_000_000 }
  const clock = { ms: 1 }
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
  stop = startArchiver({
    folder,
    retention_ms: bounds.retention_ms ?? null,
    max_bytes: bounds.max_bytes ?? 1_000_000_000,
    min_free_bytes: 1_000,
    freeBytes: () => Promise.resolve(disk.free),
    redis,
    ring,
    name: 'unit',
    load: new RequestLoad(),
    logs: new LogWatch(redis),
    metrics: {
      archive: (values) => Object.assign(measured, values),
      noArchive: () => undefined,
    },
    log: quiet as never,
    // Each look at the clock is ten seconds later, so that nothing waits for its interval.
    nowMs: () => (clock.ms += 10_000),
    now: () => new Date(),
  })
  return { folder: join(folder, 'unit'), disk, clock }
}

async function end(): Promise<void> {
  await stop?.()
  stop = null
}

/** The hours, whether they are compressed or not. */
const filesOf = (folder: string, org: string): string[] =>
  listHourFiles(join(folder, org)).map((file) => file.replace(/\.gz$/, ''))

/** A file may be compressed between two looks at it. */
function textOf(folder: string, org: string, hour: string): string {
  const path = join(folder, org, hour)
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return gunzipSync(readFileSync(`${path}.gz`)).toString('utf8')
  }
}

const linesOf = (folder: string, org: string): number =>
  filesOf(folder, org)
    .map((file) => textOf(folder, org, file).split('\n').length - 1)
    .reduce((sum, count) => sum + count, 0)

async function alertsOf(org: string, kind: string): Promise<Record<string, string>[]> {
  const ids = await redis.zrange(REDIS_KEYS.alertIndex(org), '0', '-1')
  const all = await Promise.all(ids.map((id) => redis.hgetall(REDIS_KEYS.alert(org, id))))
  return all.filter((alert) => alert['kind'] === kind)
}

test('beyond its maximum size the archive loses its oldest hours, of all organizations, and says so', async () => {
  for (let hour = 0; hour < 6; hour++) {
    await write(ORG, hour, 20)
    await write(OTHER, hour, 10)
  }
  const { folder } = start({ max_bytes: 60_000 })
  await until(
    'the oldest hours are gone',
    async () =>
      (await alertsOf(ORG, 'archive_trimmed')).length > 0 &&
      linesOf(folder, ORG) < 120 &&
      (await alertsOf(OTHER, 'archive_trimmed')).length > 0,
  )
  await end()
  const bytes = [ORG, OTHER].flatMap((org) =>
    readdirSync(join(folder, org))
      .filter((file) => file !== 'head.json')
      .map((file) => statSync(join(folder, org, file)).size),
  )
  assert.deepEqual([bytes.reduce((sum, size) => sum + size, 0) <= 60_000, bytes], [true, bytes])
  assert.ok((measured['agw_archive_bytes'] ?? Infinity) <= 60_000)
  assert.equal(measured['agw_archive_free_bytes'], 1_000_000)
  assert.equal(measured['agw_archive_lag_seconds'], 0)
  for (const org of [ORG, OTHER]) {
    // What is left is the newest, without a hole, and the archive says where it begins.
    assert.equal(filesOf(folder, org).at(-1), '2026-03-01T05.ndjson')
    assert.notEqual(filesOf(folder, org)[0], '2026-03-01T00.ndjson')
  }
  const report = await verifyArchive(folder, archiveRoots(ring))
  assert.deepEqual(report.problems, [])
})

for (const store of ['has entries', 'has none'] as const)
  test(`the record that all lines were cut off is kept like other entries, where the store ${store}`, async () => {
    const retention_ms = 10 * 366 * 24 * HOUR_MS
    await write(ORG, 0, 30)
    const { folder } = start({ retention_ms })
    await until('all is archived', () => linesOf(folder, ORG) === 30)
    await end()
    rmSync(join(folder, ORG), { recursive: true })
    await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', '=', store === 'has entries' ? 3 : 0)
    const before_ms = Date.now()
    start({ retention_ms }, dirname(folder))
    // The record, and a gap for what the store has dropped.
    const lines = store === 'has entries' ? 2 + 3 : 1
    await until('it goes on', () => linesOf(folder, ORG) >= lines)
    if (store === 'has entries') {
      await write(ORG, 1, 5)
      await until('a later hour is archived', () => linesOf(folder, ORG) === lines + 5)
      // The next look at old files comes after this entry.
      await write(ORG, 2, 1)
      await until('and the next', () => linesOf(folder, ORG) === lines + 6)
    }
    await end()
    const hour = store === 'has entries' ? '2026-03-01T00' : new Date(before_ms).toISOString()
    assert.equal(filesOf(folder, ORG)[0], `${hour.slice(0, 13)}.ndjson`)
    const { problems } = await verifyArchive(folder, archiveRoots(ring))
    assert.deepEqual(
      problems.map(({ problem }) => /had been archived and were cut off/.test(problem)),
      [true],
    )
  })

test('the newest hour stays, however small the maximum is', async () => {
  await write(ORG, 0, 30)
  const { folder } = start({ max_bytes: 1 })
  await until('all is archived', () => linesOf(folder, ORG) === 30)
  await end()
  assert.equal(linesOf(folder, ORG), 30)
})

test('without free space nothing is archived, one alert is raised, and archiving resumes where it stopped', async () => {
  await write(ORG, 0, 25)
  const { folder, disk } = start({ free: 999 })
  await until(
    'operators are alerted',
    async () => (await alertsOf(OTHER, 'archive_stopped')).length > 0,
  )
  const [alert] = await alertsOf(ORG, 'archive_stopped')
  assert.equal(alert?.['severity'], 'critical')
  // Just enough to begin is not enough to go on.
  disk.free = 1_050
  await write(ORG, 1, 5)
  const seen = Number(await redis.hget(REDIS_KEYS.archiveHeads('none'), ORG))
  assert.equal(seen, 0)
  assert.equal(linesOf(folder, ORG), 0)
  disk.free = 1_100
  await until('it continues', () => linesOf(folder, ORG) === 30)
  await end()
  assert.equal((await alertsOf(ORG, 'archive_stopped'))[0]?.['count'], '1')
  assert.deepEqual((await verifyArchive(folder, archiveRoots(ring))).problems, [])
})

test('closed hours are compressed, verify, lose their oldest, and the chain continues after a restart', async () => {
  for (let hour = 0; hour < 4; hour++) await write(ORG, hour, 30)
  const first = start()
  const isCompressed = (): boolean =>
    listHourFiles(join(first.folder, ORG)).filter((file) => file.endsWith('.gz')).length === 3
  await until('all but the newest are compressed', isCompressed)
  await end()
  assert.deepEqual((await verifyArchive(first.folder, archiveRoots(ring))).problems, [])
  assert.equal(linesOf(first.folder, ORG), 120)
  await write(ORG, 5, 10)
  const largest = Math.max(
    ...readdirSync(join(first.folder, ORG)).map(
      (file) => statSync(join(first.folder, ORG, file)).size,
    ),
  )
  start({ max_bytes: largest + 6_000 }, dirname(first.folder))
  await until(
    'the oldest are gone',
    () => !filesOf(first.folder, ORG).includes('2026-03-01T00.ndjson'),
  )
  await until(
    'the newest is there',
    () => filesOf(first.folder, ORG).at(-1) === '2026-03-01T05.ndjson',
  )
  await end()
  assert.deepEqual((await verifyArchive(first.folder, archiveRoots(ring))).problems, [])
})

test('what the store drops while the archive is stopped is a gap in it', async () => {
  await write(ORG, 0, 10)
  const { folder, disk } = start()
  await until('the first are archived', () => linesOf(folder, ORG) === 10)
  disk.free = 0
  await until('it has stopped', async () => (await alertsOf(ORG, 'archive_stopped')).length > 0)
  await write(ORG, 1, 20)
  await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', '=', 5)
  disk.free = 5_000
  await until('it continues', () => linesOf(folder, ORG) === 16)
  await end()
  const text = textOf(folder, ORG, '2026-03-01T01.ndjson')
  assert.match(text, /"entry":\{"gap":\{"missing":15\}\}/)
  const report = await verifyArchive(folder, archiveRoots(ring))
  assert.deepEqual(report.problems, [])
  assert.equal(report.missed, 15)
})

test('metrics show how full the store is, and the archive only where this process writes it', async () => {
  const metrics = new AdminMetrics({
    redis,
    lease_ms: 3_000,
    now: () => new Date(),
    streams: () => 0,
  })
  const valueOf = async (name: string): Promise<number | null> => {
    const line = new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.render())
    return line === null ? null : Number(line[1])
  }
  await redis.config('SET', 'maxmemory', '123456789')
  try {
    assert.equal(await valueOf('agw_store_max_bytes'), 123_456_789)
    assert.ok(((await valueOf('agw_store_used_bytes')) ?? 0) > 100_000)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
  assert.equal(await valueOf('agw_archive_bytes'), null)
  metrics.archive({ agw_archive_bytes: 5 })
  metrics.archive({ agw_archive_free_bytes: 7 })
  assert.equal(await valueOf('agw_archive_bytes'), 5)
  assert.equal(await valueOf('agw_archive_free_bytes'), 7)
  metrics.noArchive()
  assert.equal(await valueOf('agw_archive_free_bytes'), null)
})
