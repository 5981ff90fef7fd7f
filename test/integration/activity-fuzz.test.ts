import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { EVENT_NAMES } from '../../core/catalogue/events.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { anyCharacter } from '../kit/any-character.ts'
import { repetitions } from '../kit/repetitions.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'

const RUNS = repetitions(400)
const ENTRIES = 60

let valkey: KitValkey
let admin: AdminInProcess
let redis: RedisClient
/** Another organization, whose log, alerts and deliveries no other organization may see. */
let other: { organization_id: string; token: string }
/** Cursors that the API has given, to this organization and to the other. */
const cursors: string[] = []
const places: string[] = []

before(async () => {
  valkey = await startValkey()
  admin = await adminInProcess(valkey.url)
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'other' } })
  other = { organization_id: made.body.organization_id, token: made.body.admin_token }
  for (const organization_id of ['org_default', other.organization_id])
    await recordEntries(
      redis,
      organization_id,
      Array.from({ length: ENTRIES }, (_, i) =>
        activityEntry('permission_denied', {
          organization_id,
          agent_id: `agt_of_${organization_id}`,
          data: { note: `number ${i}` },
        }),
      ),
    )
  for (const token of [admin.token, other.token])
    for (const path of ['/admin/activity', '/admin/agents', '/admin/alerts', '/webhooks']) {
      const { body } = await admin.call('GET', `${path}?limit=1`, { token })
      if (body.next_cursor !== null) cursors.push(body.next_cursor)
    }
  for (const [place] of await redis.xrange(REDIS_KEYS.activity(other.organization_id), '-', '+'))
    places.push(place)
})
after(async () => {
  redis.disconnect()
  await admin.stop()
  await valkey.stop()
})

const wild = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom('', '*', '\u0000', '-', '+', '(1-1', '1-1', '0-0', 'x'.repeat(400), '%', '\r\n'),
)
/** Made up, of another list or organization, or a little changed. */
const cursor = fc.oneof(
  wild,
  fc.constant(null).chain(() => fc.constantFrom(...cursors)),
  fc
    .tuple(
      fc.constant(null).chain(() => fc.constantFrom(...cursors)),
      fc.nat(),
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
    )
    .map(([text, at, by]) => {
      const i = at % Math.max(1, text.length)
      return text.slice(0, i) + by + text.slice(i + 1)
    }),
  fc
    .oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((n) => `${n}-${n}`),
      fc.constantFrom(
        '0-0',
        '18446744073709551615-18446744073709551615',
        '1-',
        '-1',
        '1-1-1',
        'NaN',
      ),
      wild,
    )
    .map((text) => Buffer.from(text).toString('base64url')),
)
const time = fc.oneof(
  wild,
  fc.constantFrom(
    '0000-01-01T00:00Z',
    '9999-12-31T23:59:59.999999999Z',
    '2026-02-31T00:00:00+23:59',
    '+275760-09-13T00:00:00Z',
    '2026-11-21T00:00:00Z',
  ),
)
const filters = {
  event: fc.oneof(fc.constantFrom(...EVENT_NAMES), wild),
  agent_id: fc.oneof(fc.constantFrom('agt_of_org_default', 'a\tb', 'a\nb'), wild),
  integration_id: wild,
  decision: fc.oneof(fc.constantFrom('allowed', 'blocked', 'terminated'), wild),
  q: fc.oneof(fc.constantFrom('number', 'NUMBER 1', '"', '\\', '%', '[a-z]'), wild),
  from: time,
  to: time,
}
const paged = { ...filters, cursor, limit: fc.oneof(fc.nat(), wild) }

const search = (query: object): string =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(Buffer.from(String(value)).toString())}`)
    .join('&')

/** A stream is closed once its head is there; everything else is read to its end. */
function get(
  path: string,
  headers: Record<string, string>,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: admin.port,
      path,
      headers: { authorization: `Bearer ${admin.token}`, ...headers },
      agent: false,
    })
    outgoing.once('error', reject)
    outgoing.once('response', (answer) => {
      const status = answer.statusCode ?? 0
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true
      if (isStream) answer.once('data', () => setImmediate(() => answer.destroy()))
      answer.on('error', () => undefined)
      answer.once('close', () => resolve({ status, text }))
    })
    outgoing.end()
  })
}

function assertOurs({ status, text }: { status: number; text: string }, path: string): void {
  assert.ok(status < 500, `${path}: ${status} ${text}\n${admin.log().slice(-2000)}`)
  if (status === 200) assert.ok(!text.includes(`agt_of_${other.organization_id}`), path)
}

test('no filter or cursor of the activity log is answered 5xx or shows what is of another organization', async () => {
  const some = fc.record(paged, { requiredKeys: [] })
  const lists = fc.constantFrom(
    '/admin/activity',
    '/admin/activity',
    '/admin/activity/counts',
    '/admin/activity/unknown-calls',
    '/admin/activity/export',
    '/admin/alerts',
    '/webhooks',
  )
  await fc.assert(
    fc.asyncProperty(lists, some, async (path, query) => {
      const url = `${path}?${search(query)}`
      assertOurs(await get(url, {}), url)
    }),
    { numRuns: RUNS },
  )
})

test('a cursor of another organization, or a forged one, leads only through the own log', async () => {
  await fc.assert(
    fc.asyncProperty(cursor, async (text) => {
      for (const path of ['/admin/activity', '/admin/agents', '/admin/alerts', '/webhooks']) {
        const url = `${path}?${search({ cursor: text, limit: 200 })}`
        assertOurs(await get(url, {}), url)
      }
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  )
})

test('no Last-Event-ID is answered 5xx, keeps the stream from beginning, or opens another log', async () => {
  const header = fc.oneof(
    fc.constant(null).chain(() => fc.constantFrom(...places)),
    fc.constantFrom('0-0', '0-1', '999999999999999-999999999999999', '18446744073709551616-1', '-'),
    fc.tuple(fc.nat(), fc.nat()).map((pair) => pair.join('-')),
    fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).filter((text) => /^[ -~]*$/.test(text)),
  )
  await fc.assert(
    fc.asyncProperty(header, fc.record(filters, { requiredKeys: [] }), async (last, query) => {
      const url = `/admin/activity/stream?${search(query)}`
      assertOurs(await get(url, { 'last-event-id': last }), `${url} after ${last}`)
    }),
    { numRuns: RUNS },
  )
  // Each has left its place to the next.
  const { status } = await get('/admin/activity/stream', {})
  assert.equal(status, 200)
})

test('an id of an entry finds that entry or nothing, whatever it is', async () => {
  const [first] = (await admin.call('GET', '/admin/activity?limit=1')).body.data
  const [theirs] = (await admin.call('GET', '/admin/activity?limit=1', { token: other.token })).body
    .data
  const id = fc.oneof(
    wild,
    fc.constantFrom(first.id, theirs.id, `${first.id}"`, 'act_ffffffffffffffff-0', 'act_0-0'),
    fc.nat().map((at) => first.id.slice(0, at % first.id.length)),
  )
  await fc.assert(
    fc.asyncProperty(id, async (text) => {
      const path = `/admin/activity/${encodeURIComponent(Buffer.from(text).toString())}`
      const answer = await get(path, {})
      assertOurs(answer, path)
      if (answer.status === 200 && text !== '' && path.startsWith('/admin/activity/act_'))
        assert.equal(JSON.parse(answer.text).id, text)
    }),
    { numRuns: RUNS },
  )
})
