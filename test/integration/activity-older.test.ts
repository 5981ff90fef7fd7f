import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'
import { compressHour } from '../../admin/audit/compress-hour.ts'
import { runActivity } from '../../cli/commands/activity.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { mintActivityId } from '../../core/activity/activity-id.ts'
import { listHourFiles } from '../../core/activity/list-hour-files.ts'
import { recordBlocks } from '../../core/change/record-blocks.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { type AdminInProcess, adminInProcess, type Json } from '../kit/admin-in-process.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const HOUR_MS = 3_600_000
const folder = tempFolder('activity-older')
let valkey: KitValkey
let redis: RedisClient
let admin: AdminInProcess
let other: string
/** What was written, from old to new, by id. */
const written: ActivityEntry[] = []

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  // Three hours of the past, two of which are compressed below; then blocks and single entries of now.
  for (let hour = 3; hour > 0; hour--)
    for (let i = 0; i < 30; i++) {
      const ms = Date.now() - hour * HOUR_MS + i
      const place = `${ms}-0`
      const entry = callAt(written.length, new Date(ms).toISOString())
      await redis.xadd(REDIS_KEYS.activity(ORG), place, 'e', JSON.stringify(entry))
      written.push(entry)
    }
  admin = await adminInProcess(valkey.url, { AGW_ARCHIVE_DIR: folder })
  for (let round = 0; round < 6; round++) {
    const some = Array.from({ length: 10 }, (_, i) =>
      callAt(written.length + i, new Date().toISOString()),
    )
    const texts = some.map((entry) => JSON.stringify(entry))
    if (round % 2 === 0) await recordBlocks(redis, ORG, texts)
    else await recordEntries(redis, ORG, some)
    written.push(...some)
  }
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'other' } })
  other = made.body.admin_token
  await until('all is archived', async () => {
    const heads = await redis.keys('*archive-heads*')
    const { length } = await everyPage({}, 200)
    const head = heads[0] === undefined ? null : await redis.hget(heads[0], ORG)
    return Number(head?.split(' ')[0] ?? 0) >= length
  })
  for (const file of listHourFiles(orgFolder()).slice(0, 2))
    await compressHour(orgFolder(), file, new AbortController().signal)
})
after(async () => {
  await admin.stop()
  redis.disconnect()
  await valkey.stop()
})

const orgFolder = (): string => join(folder, readdirSync(folder)[0] ?? '', ORG)

const callAt = (i: number, timestamp: string): ActivityEntry =>
  activityEntry('request_allowed', {
    id: mintActivityId(Date.parse(timestamp)),
    timestamp,
    agent_id: i === 4 ? 'agt_rare' : `agt_${i % 3}`,
    decision: 'allowed',
    request_id: randomUUID(),
    endpoint: i % 10 === 3 ? '/v1/needle' : '/v1/hay',
  })

async function page(query: Readonly<Record<string, string>>): Promise<Json> {
  const { status, body } = await admin.call(
    'GET',
    `/admin/activity?${new URLSearchParams(query).toString()}`,
  )
  assert.equal(status, 200)
  return body
}

/** The ids of calls on all pages, with what is done between two of them. */
async function everyPage(
  query: Readonly<Record<string, string>>,
  limit: number,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = null; ; ) {
    const body: Json = await page({
      ...query,
      limit: String(limit),
      ...(cursor === null ? {} : { cursor }),
    })
    assert.deepEqual([body.archive, body.skipped_hours], [true, []])
    ids.push(
      ...body.data
        .filter(({ event }: ActivityEntry) => event === 'request_allowed')
        .map(({ id }: ActivityEntry) => id),
    )
    cursor = body.next_cursor
    if (cursor === null) return ids
    await meanwhile()
  }
}

const idsOf = (wanted: (entry: ActivityEntry) => boolean): string[] =>
  written
    .filter(wanted)
    .map(({ id }) => id)
    .reverse()

test('paging goes on from the store into the archive, with each entry once, while the store is trimmed', async () => {
  const all = idsOf(() => true)
  let left = await redis.xlen(REDIS_KEYS.activity(ORG))
  const trim = async (): Promise<void> => {
    left = Math.max(0, left - 9)
    await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', '=', left)
  }
  assert.deepEqual(await everyPage({}, 7), all)
  assert.deepEqual(await everyPage({}, 7, trim), all)
  assert.equal(await redis.xlen(REDIS_KEYS.activity(ORG)), 0)
})

test('with an empty store every filter, the export and an id find what the archive has', async () => {
  await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', '=', 0)
  const oldest = written[0] as ActivityEntry
  const has = (query: Readonly<Record<string, string>>, wanted: (one: ActivityEntry) => boolean) =>
    everyPage(query, 7).then((ids) => assert.deepEqual(ids, idsOf(wanted)))
  await has({ agent_id: 'agt_rare' }, ({ agent_id }) => agent_id === 'agt_rare')
  await has({ agent_id: 'agt_1', decision: 'allowed' }, ({ agent_id }) => agent_id === 'agt_1')
  await has({ request_id: oldest.request_id ?? '' }, ({ id }) => id === oldest.id)
  await has({ q: 'NEEDLE' }, ({ endpoint }) => endpoint === '/v1/needle')
  await has({ from: written[40]?.timestamp ?? '' }, (one) => written.indexOf(one) >= 40)
  await has({ to: written[40]?.timestamp ?? '' }, (one) => written.indexOf(one) < 40)
  const exported = await admin.call('GET', '/admin/activity/export?agent_id=agt_2')
  assert.deepEqual(
    exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
    idsOf(({ agent_id }) => agent_id === 'agt_2'),
  )
  for (const { id } of [oldest, written[70] as ActivityEntry, written.at(-1) as ActivityEntry])
    assert.equal((await admin.call('GET', `/admin/activity/${id}`)).body.id, id)
})

test('another organization finds none of it', async () => {
  const ask = (path: string) => admin.call('GET', `/admin/activity${path}`, { token: other })
  const { body } = await ask('?limit=200')
  const events = new Set(body.data.map(({ event }: ActivityEntry) => event))
  assert.equal(events.has('request_allowed'), false)
  assert.deepEqual((await ask(`?request_id=${written[0]?.request_id}`)).body.data, [])
  assert.equal((await ask(`/${written[0]?.id}`)).status, 404)
})

test('the command finds what only the archive has, and names hours that it could not search', async () => {
  const [file = ''] = listHourFiles(orgFolder())
  const options = {
    url: `http://127.0.0.1:${admin.port}`,
    token: admin.token,
    output: 'json',
  } as const
  const run = async (more: object): Promise<{ ids: string[]; problems: string }> => {
    const [out, err] = [new PassThrough(), new PassThrough()]
    assert.equal(await runActivity({ ...options, ...more }, out, err), 0)
    const lines = String(out.read() ?? '')
      .split('\n')
      .slice(0, -1)
    return { ids: lines.map((line) => JSON.parse(line).id), problems: String(err.read() ?? '') }
  }
  const rare = { requestId: written[4]?.request_id ?? '' }
  assert.deepEqual(await run(rare), { ids: [written[4]?.id], problems: '' })
  rmSync(join(orgFolder(), file.replace('.ndjson.gz', '.index')))
  // A terminal shows both streams. The note is below the table, where it is still seen after a long list.
  const terminal = new PassThrough()
  assert.equal(await runActivity({ ...options, ...rare, output: 'table' }, terminal, terminal), 0)
  const lines = String(terminal.read()).trimEnd().split('\n')
  assert.match(lines.shift() ?? '', /^TIME +EVENT/)
  assert.match(lines.join(), new RegExp(`^Hours .* not be searched: ${file.slice(0, 13)}\\.$`))
  const exported = await admin.call('GET', '/admin/activity/export')
  assert.equal(exported.headers['x-agw-skipped-hours'], file.slice(0, 13))
  await compressHour(orgFolder(), file, new AbortController().signal)
  assert.deepEqual((await run(rare)).ids, [written[4]?.id])
})

test('an export that cannot read all of an hour is cut off, and the next one names the hour', async () => {
  const [file = ''] = listHourFiles(orgFolder())
  const path = join(orgFolder(), file)
  const whole = readFileSync(path)
  const bytes = Buffer.from(whole)
  bytes[200] = (bytes[200] ?? 0) ^ 1
  writeFileSync(path, bytes)
  const cut = await fetch(`http://127.0.0.1:${admin.port}/admin/activity/export`, {
    headers: { authorization: `Bearer ${admin.token}` },
  })
  assert.equal(cut.status, 200)
  await assert.rejects(cut.text())
  const { headers, text } = await admin.call('GET', '/admin/activity/export')
  assert.equal(headers['x-agw-skipped-hours'], file.slice(0, 13))
  assert.ok(text.includes(written[40]?.id ?? '?') && !text.includes(written[0]?.id ?? '?'))
  // Nor does it say that there is no such entry.
  const read = () => admin.call('GET', `/admin/activity/${written[0]?.id}`)
  assert.equal((await read()).status, 503)
  writeFileSync(path, whole)
  assert.equal((await read()).body.id, written[0]?.id)
})

test('forged positions and names of hours are no entries and no hours', async () => {
  const digits = '9'.repeat(20)
  const entry = callAt(0, new Date(0).toISOString())
  const forged = { ...entry, agent_id: 'agt_forged' }
  const line = (place: string): string =>
    `{"n":1,"place":"${place}","key":"k","entry":${JSON.stringify(forged)},"mac":"m"}\n`
  const files = ['0000-00-00T00', '1970-01-01T00', '9999-99-99T99'].map((hour) =>
    join(orgFolder(), `${hour}.ndjson`),
  )
  for (const file of files) writeFileSync(file, [`${digits}-0`, `0-${digits}`].map(line).join(''))
  const { token, encryption_key } = admin
  // It has not listed the folder yet.
  const fresh = await adminInProcess(valkey.url, {
    AGW_ARCHIVE_DIR: folder,
    AGW_ADMIN_TOKEN: token,
    AGW_ENCRYPTION_KEY: encryption_key,
  })
  try {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = `agent_id=agt_forged&limit=1${cursor}`
      const { status, body } = await fresh.call('GET', `/admin/activity?${query}`)
      assert.deepEqual([status, body.data], [200, []])
      cursor = body.next_cursor === null ? null : `&cursor=${body.next_cursor}`
    }
  } finally {
    await fresh.stop()
    for (const file of files) rmSync(file)
  }
})

test('counts say that they begin where the store does, and that the archive is not counted', async () => {
  const newest_ms = Date.parse(written.at(-1)?.timestamp ?? '')
  for (const query of ['facets?q=needle', 'facets', 'series']) {
    const { body } = await admin.call('GET', `/admin/activity/${query}`)
    assert.equal(body.archive, false, query)
    assert.ok(Date.parse(body.from) > newest_ms, query)
  }
})

test('an answer says down to when it has looked, and whether there is an archive', async () => {
  // A page ends early on a busy machine.
  const lastPage = async (query: Readonly<Record<string, string>>): Promise<Json> => {
    const body = await page(query)
    return body.next_cursor === null ? body : lastPage({ ...query, cursor: body.next_cursor })
  }
  const { searched_to, archive } = await lastPage({ agent_id: 'nobody' })
  assert.equal(archive, true)
  assert.ok(Date.parse(searched_to) <= Date.parse(written[0]?.timestamp ?? ''))
  const from = written[50]?.timestamp ?? ''
  assert.equal((await lastPage({ agent_id: 'nobody', from })).searched_to, from)
  const without = await adminInProcess(valkey.url, {
    AGW_ADMIN_TOKEN: admin.token,
    AGW_ENCRYPTION_KEY: admin.encryption_key,
  })
  try {
    const { body } = await without.call('GET', '/admin/activity')
    assert.equal(body.archive, false)
    assert.deepEqual(body.skipped_hours, [])
  } finally {
    await without.stop()
  }
})
