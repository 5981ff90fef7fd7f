import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { waitForReader } from '../../admin/http/wait-for-reader.ts'
import type { LogRow } from '../../core/activity/log-row.ts'
import { LOG_READ_BYTES, readLog } from '../../core/activity/read-log.ts'
import { readRowsAfter } from '../../core/activity/read-rows-after.ts'
import { recordBlocks } from '../../core/change/record-blocks.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { adminOnStore } from '../kit/admin-on-store.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import type { Json } from '../kit/admin-in-process.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const { admin, redis, stop } = await adminOnStore()
after(stop)

const finding = (agent_id: string, agent_name: string, more: object = {}) =>
  activityEntry('injection_blocked', {
    agent_id,
    agent_name,
    data: { pattern_name: 'p', severity: 'high', mode: 'block', location: 'body' },
    ...more,
  })

const alertOf = (agent_id: string): Promise<Json> =>
  until(`the alert about ${agent_id} is there`, async () => {
    const { body } = await admin.call('GET', '/admin/alerts?limit=200')
    return body.data.find((alert: Json) => alert.last.agent_id === agent_id)
  })

test('no name, time or text of an entry stops the indexing of the log', async () => {
  // A title is cut, and a cut through a pair of surrogates is not JSON that the store can read.
  const names = ['x', 'xx'].map((before_) => before_ + '\u{1f600}'.repeat(198))
  for (const agent_name of names)
    assert.equal((await admin.call('POST', '/admin/agents', { body: { agent_name } })).status, 201)
  const entries = [
    ...names.map((name, i) => finding(`agt_pair_${i}`, name)),
    finding('agt_half', 'a\ud83d'),
    finding('agt_nul', '\u0000\t\n'),
    finding('agt_timeless', 'a', { timestamp: 'no time' }),
    finding('agt_tab\tbed', 'a', { integration_id: 'int\n1' }),
    finding('agt_after', 'after all of them'),
  ]
  await recordEntries(redis, ORG, entries)
  for (const { agent_id } of entries) {
    const alert = await alertOf(agent_id ?? '')
    assert.ok(alert.title.isWellFormed?.() ?? true)
  }
})

test('a log that cannot be digested holds up neither those of other organizations nor their alerts', async () => {
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'broken' } })
  await redis.set(REDIS_KEYS.activityDigest(made.body.organization_id), 'no hash')
  await until('the failure is reported', () =>
    admin.log().includes(`indexing the activity log of ${made.body.organization_id} failed`),
  )
  await recordEntries(redis, ORG, [finding('agt_beside', 'b')])
  await alertOf('agt_beside')
  await until(
    'the alert is delivered',
    async () => (await redis.zcard(REDIS_KEYS.alertNotices)) === 0,
  )
  assert.equal(admin.log().split('indexing the activity log of').length, 2, 'logged once')
})

test('no read of a log is long, whatever paths an agent requests', async () => {
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'long paths' } })
  const { organization_id } = made.body
  const key = REDIS_KEYS.activity(organization_id)
  const digest = REDIS_KEYS.activityDigest(organization_id)
  await until('the log is indexed', () => redis.hget(digest, 'form'))
  const texts = Array.from({ length: 1_024 }, () =>
    JSON.stringify(
      activityEntry('request_allowed', {
        organization_id,
        endpoint: `/${randomBytes(12_000).toString('base64url')}`,
      }),
    ),
  )
  assert.equal(await recordBlocks(redis, organization_id, texts), true)
  const refusal = activityEntry('request_rejected', { organization_id })
  await recordEntries(redis, organization_id, [refusal])
  // Random texts of base64 become a quarter smaller, 12 MB here.
  const sizeOf = (rows: readonly LogRow[]): number =>
    rows.flatMap((row) => row.entryBytes()).reduce((sum, { text }) => sum + text.length, 0)
  const seen: string[] = []
  let reads = 0
  for (let after = '0-0', has_more = true; has_more; reads++) {
    const read = await readRowsAfter(redis, organization_id, after, 1_000)
    assert.ok(sizeOf(read.rows) < 2 * LOG_READ_BYTES, `${sizeOf(read.rows)} bytes`)
    assert.deepEqual(
      (await readLog(redis, organization_id, after, 1_000)).rows.map(({ place }) => place),
      read.rows.map(({ place }) => place),
    )
    seen.push(...read.rows.flatMap((row) => row.entries()).map(({ text }) => text))
    after = read.rows.at(-1)?.place ?? after
    has_more = read.has_more
  }
  assert.deepEqual(seen, [...texts, JSON.stringify(refusal)])
  assert.ok(reads > 8, `${reads} reads`)
  const ids = [refusal.id, 'act_that_is_not_there']
  assert.deepEqual(await runScript(redis, 'find-recent', [key], [10, 1_000, ...ids]), [refusal.id])
  const [newest] = await redis.xrevrange(key, '+', '-', 'COUNT', 1)
  await until(
    'all of it is indexed',
    async () => (await redis.hget(digest, 'position')) === newest?.[0],
  )
})

test('a silent mail server delays neither the indexing nor the alerts', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const own = await adminOnStore({
    AGW_SMTP_URL: `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    AGW_ALERT_EMAIL_FROM: 'a@example.test',
    AGW_ALERT_EMAIL_TO: 'b@example.test',
  })
  try {
    await recordEntries(own.redis, ORG, [finding('agt_mailed', 'a')])
    const [socket] = await until('the mail server is asked', () => sockets.length > 0 && sockets)
    await recordEntries(own.redis, ORG, [finding('agt_meanwhile', 'b')])
    await until('the next alert is there', async () => {
      const { body } = await own.admin.call('GET', '/admin/alerts')
      return body.data.some((alert: Json) => alert.last.agent_id === 'agt_meanwhile')
    })
    assert.equal(socket?.closed, false, 'it is still waited for')
  } finally {
    for (const socket of sockets) socket.destroy()
    silent.close()
    await own.stop()
  }
})

/** Asks, and reads nothing of the answer. */
function hold(path: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request({
      host: '127.0.0.1',
      port: admin.port,
      path,
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    })
    asked.once('error', reject)
    asked.once('response', (answer) => resolve(answer.on('error', () => undefined)))
    asked.end()
  })
}

/** Asks until a stream or an export begins: a busy store may refuse one, but no other refusal is right. */
const open = (path: string, token: string): Promise<IncomingMessage> =>
  until(`${path} begins`, async () => {
    const answer = await hold(path, token)
    if (answer.statusCode === 200) return answer
    answer.destroy()
    assert.equal(answer.statusCode, 503)
    return null
  })

test('many slow searches of one organization are refused in part, and those of another are answered', async () => {
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'searching' } })
  const token = made.body.admin_token as string
  for (let i = 0; i < 5; i++)
    await recordEntries(
      redis,
      made.body.organization_id,
      Array.from({ length: 10 }, () =>
        activityEntry('request_rejected', { data: { text: 'x'.repeat(60_000) } }),
      ),
    )
  const slow = '/admin/activity?q=in-no-entry'
  // A busy store may refuse one that had its turn: it asks again.
  const search = async () => {
    const answer = await admin.call('GET', slow, { token })
    return answer.status === 503 ? null : answer
  }
  const asked = Array.from({ length: 60 }, () => until('a search is answered', search))
  assert.equal((await admin.call('GET', slow)).status, 200)
  const answers = await Promise.all(asked)
  const refused = answers.filter(({ status }) => status === 429)
  const done = answers.filter(({ status }) => status === 200)
  const others = answers.filter((answer) => !refused.includes(answer) && !done.includes(answer))
  assert.deepEqual(
    others.map(({ text }) => text),
    [],
  )
  // Two run, and eight of one token wait.
  assert.ok(done.length >= 10, `${done.length} searches were made`)
  assert.ok(refused.length > 0)
  for (const { body, headers } of refused) {
    assert.equal(body.error, 'too_many_requests')
    assert.equal(headers['retry-after'], '1')
  }
  assert.equal((await until('a later search is answered', search)).status, 200)
})

for (const [path, room] of [
  ['/admin/activity/stream', 50],
  ['/admin/activity/export', 8],
] as const)
  test(`one organization cannot take all of ${path} from the others, and what it releases is available again`, async () => {
    const { body } = await admin.call('POST', '/admin/organizations', { body: { name: 'greedy' } })
    const greedy = body.admin_token as string
    // More than the buffers of a connection take, so that an export stands still. A stream stays open without entries.
    if (path === '/admin/activity/export')
      for (let i = 0; i < 30; i++)
        await recordEntries(
          redis,
          body.organization_id,
          Array.from({ length: 10 }, () =>
            activityEntry('request_rejected', { data: { text: 'x'.repeat(60_000) } }),
          ),
        )
    // At once: one after the other took ten seconds on a slow machine.
    const held = await Promise.all(Array.from({ length: room }, () => open(path, greedy)))
    const more = await until('the next one is answered', async () => {
      const answer = await admin.call('GET', path, { token: greedy })
      return answer.status === 503 ? null : answer
    })
    assert.equal(more.status, 429)
    assert.equal(more.body.error, 'too_many_streams')
    assert.equal(more.headers['retry-after'], '5')
    const other = await open(path, admin.token)
    for (const answer of [other, ...held]) answer.destroy()
    await until('there is room again', async () => {
      const answer = await hold(path, greedy)
      answer.destroy()
      return answer.statusCode === 200
    })
  })

test('an export goes on after a store that did not answer for seconds', async () => {
  const { body } = await admin.call('POST', '/admin/organizations', { body: { name: 'failover' } })
  const entries = Array.from({ length: 300 }, () =>
    activityEntry('request_rejected', { data: { text: 'x'.repeat(60_000) } }),
  )
  for (let at = 0; at < entries.length; at += 10)
    await recordEntries(redis, body.organization_id, entries.slice(at, at + 10))
  const answer = await open('/admin/activity/export', body.admin_token)
  await redis.call('CLIENT', 'PAUSE', '3000', 'ALL')
  const lines = (await textOf(answer)).trimEnd().split('\n')
  const exported = new Set(lines.map((line) => JSON.parse(line).id))
  const missing = entries.flatMap(({ id }, i) => (exported.has(id) ? [] : [i]))
  assert.deepEqual(missing, [], 'entries that are not in the export, in the order of the log')
  assert.equal(exported.size, lines.length, 'each entry once')
})

test('a reader that stands still is not waited for without end', async () => {
  const out = new PassThrough({ highWaterMark: 1 })
  out.write('more than it takes')
  await assert.rejects(waitForReader(out, new AbortController().signal, 1), /stopped reading/)
  const read = waitForReader(out, new AbortController().signal)
  out.resume()
  await read
})
