import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { buildConnector } from 'undici'
import { attemptDelivery } from '../../admin/webhooks/attempt-delivery.ts'
import type { Attempt } from '../../admin/webhooks/attempt-outcome.ts'
import { type Bounds, DeliveryQueue } from '../../admin/webhooks/delivery-queue.ts'
import { DeliveryWorker, LOOK_INTERVAL_MS } from '../../admin/webhooks/delivery-worker.ts'
import type { Webhook } from '../../admin/webhooks/webhook.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { buildEnvelope } from '../../core/change/build-envelope.ts'
import { commit } from '../../core/change/commit.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { recordText, STORE_FORMAT } from '../../core/store/stored-record.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { EventName } from '../../core/catalogue/events.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { startValkey } from '../kit/start-valkey.ts'

const ORG = 'org_default'
const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
after(async () => {
  redis.disconnect()
  await valkey.stop()
})

beforeEach(async () => {
  await redis.flushall()
  for (const webhook_id of ['whk_a', 'whk_b'])
    await redis.hset(REDIS_KEYS.webhooks(ORG), webhook_id, '{}')
  const subscriptions = REDIS_KEYS.webhookSubscriptions(ORG)
  await redis.hset(subscriptions, { permission_denied: 1, agent_killed: 1, agent_reactivated: 0 })
})

const queueWith = (bounds: Partial<Bounds>): DeliveryQueue =>
  new DeliveryQueue(redis, [0, 60_000], bounds)

async function outbox(): Promise<readonly { id: string; entry: ActivityEntry; bytes: number }[]> {
  const entries = (await redis.xrange(REDIS_KEYS.outbox, '-', '+')) as [string, string[]][]
  return entries.map(([id, [, , , text = '']]) => ({
    id,
    entry: JSON.parse(text) as ActivityEntry,
    bytes: Buffer.byteLength(text),
  }))
}

/** Relays all that is in the outbox to both webhooks. */
async function relayAll(queue: DeliveryQueue): Promise<{ created: number; dropped: number }> {
  const sum = { created: 0, dropped: 0 }
  for (const { id, entry, bytes } of await outbox()) {
    const event = {
      outbox_id: id,
      organization_id: ORG,
      event_id: entry.id,
      event: entry.event,
      at_ms: Date.parse(entry.timestamp),
      body: JSON.stringify(buildEnvelope(entry)),
      entry_bytes: bytes,
    }
    const relayed = await queue.relay(event, ['whk_a', 'whk_b'])
    assert.equal(await queue.relay(event, ['whk_a', 'whk_b']), null, 'a second relay finds it done')
    sum.created += relayed?.created ?? 0
    sum.dropped += relayed?.dropped ?? 0
  }
  return sum
}

const record = (event: EventName, data = {}): Promise<void> =>
  recordEntries(redis, ORG, [activityEntry(event, { data })])

const attempt = (is_success: boolean): Attempt => ({
  number: 1,
  started_at: new Date().toISOString(),
  is_success,
  status: is_success ? 200 : 500,
  error: is_success ? null : 'http_status',
  duration_ms: 5,
  response_excerpt: null,
  sent: null,
})

test('only what a webhook subscribes to enters the outbox, by both scripts that write activity', async () => {
  await recordEntries(redis, ORG, [
    activityEntry('request_allowed'),
    activityEntry('permission_denied'),
    activityEntry('mcp_tool_blocked'),
    activityEntry('agent_reactivated'),
  ])
  const events = [activityEntry('agent_killed'), activityEntry('admin_action')]
  await commit(redis, { guards: [], writes: [], targets: [], events }, 3000)
  const refused = {
    guards: [['HGET', REDIS_KEYS.agents(ORG), 'nobody', true]] as const,
    writes: [],
    targets: [],
    events,
  }
  assert.equal((await commit(redis, refused, 3000)).kind, 'refused')
  assert.deepEqual(
    (await outbox()).map(({ entry }) => entry.event),
    ['permission_denied', 'agent_killed'],
  )
  assert.equal(await redis.xlen(REDIS_KEYS.activity(ORG)), 4)
})

test('threat 21: a full outbox drops and counts refusals, and still takes kills', async () => {
  await redis.hset(REDIS_KEYS.outboxUsage, `${ORG} bytes`, 16 * 1024 * 1024)
  await record('permission_denied')
  await record('agent_killed')
  await recordEntries(redis, 'org_other', [
    activityEntry('permission_denied', { organization_id: 'org_other' }),
  ])
  assert.deepEqual(
    (await outbox()).map(({ entry }) => entry.event),
    ['agent_killed'],
  )
  assert.equal(await redis.hget(REDIS_KEYS.outboxUsage, `${ORG} dropped`), '1')
  assert.equal(await redis.xlen(REDIS_KEYS.activity(ORG)), 2, 'the activity log has both')
})

test('threat 21: when too many deliveries wait, further ones are dropped and counted, and kills are not', async () => {
  const queue = queueWith({ pending_max: 3 })
  for (let i = 0; i < 3; i++) await record('permission_denied')
  await record('agent_killed')
  assert.deepEqual(await relayAll(queue), { created: 5, dropped: 3 })
  assert.deepEqual(await redis.hmget(REDIS_KEYS.webhookUsage(ORG), 'pending', 'dropped'), [
    '5',
    '3',
  ])
})

test('stored envelopes give way to new ones, the oldest first, but never those that a delivery needs', async () => {
  const filler = { filler: 'x'.repeat(4000) }
  const queue = queueWith({ event_bytes_max: 10_000 })
  for (let i = 0; i < 3; i++) await record('permission_denied', filler)
  assert.deepEqual(
    await relayAll(queue),
    { created: 4, dropped: 2 },
    'two are needed, a third finds no room',
  )
  const { deliveries } = await queue.claim(10)
  assert.equal(deliveries.length, 4)
  for (const delivery of deliveries) await queue.settle(delivery, attempt(true), 8)
  const before = await redis.zrange(REDIS_KEYS.webhookEventTimes(ORG), '0', '-1')
  await record('permission_denied', filler)
  assert.deepEqual(await relayAll(queue), { created: 2, dropped: 0 })
  const kept = await redis.zrange(REDIS_KEYS.webhookEventTimes(ORG), '0', '-1')
  assert.equal(kept.length, 2)
  assert.ok(!kept.includes(before[0] ?? ''))
  const range = { from_ms: 0, to_ms: Date.now() + 1000 }
  const webhook = { organization_id: ORG, webhook_id: 'whk_a', events: ['permission_denied'] }
  assert.deepEqual(await queue.replay(webhook, range), { created: 2, next_from_ms: null })
})

test('ended deliveries are kept up to their bound, the newest', async () => {
  const queue = queueWith({ settled_max: 4 })
  for (let i = 0; i < 5; i++) {
    await record('permission_denied')
    await relayAll(queue)
    const { deliveries } = await queue.claim(10)
    for (const delivery of deliveries) await queue.settle(delivery, attempt(true), 8)
    // Those that end in the same millisecond have no order.
    await wait(2)
  }
  assert.equal(await redis.zcard(REDIS_KEYS.webhookSettled(ORG)), 4)
  assert.equal(await redis.zcard(REDIS_KEYS.webhookDeliveries('whk_a')), 2)
  assert.equal((await redis.keys(REDIS_KEYS.webhookDelivery('*'))).length, 4)
})

test('a webhook has no more attempts under way than its slots, and another one is not held up', async () => {
  const queue = queueWith({})
  for (let i = 0; i < 20; i++) await record('permission_denied')
  await relayAll(queue)
  const { deliveries } = await queue.claim(100)
  const of = (webhook_id: string) =>
    deliveries.filter((delivery) => delivery.webhook_id === webhook_id)
  assert.deepEqual([of('whk_a').length, of('whk_b').length], [8, 8])
  assert.equal((await queue.claim(100)).deliveries.length, 0)
  const [first] = of('whk_a')
  assert.ok(first)
  await queue.settle(first, attempt(false), 2)
  assert.equal(
    (await queue.claim(100)).deliveries.length,
    0,
    'seven still run, and it has two slots now',
  )
  for (const delivery of of('whk_b')) await queue.settle(delivery, attempt(true), 8)
  assert.equal((await queue.claim(100)).deliveries.length, 8)
})

test('webhooks of a newer version hide no other, and keep their deliveries for a process of that version', async () => {
  const queue = queueWith({})
  await record('permission_denied')
  await relayAll(queue)
  const webhooks = REDIS_KEYS.webhooks(ORG)
  const newer = JSON.stringify({ store_format: STORE_FORMAT + 1 })
  await redis.hset(webhooks, 'whk_a', newer)
  const others = Array.from({ length: 150 }, (_, n) => `whk_newer_${n}`)
  await redis.hset(webhooks, Object.fromEntries(others.map((id) => [id, newer])))
  for (const id of others) await redis.zadd(REDIS_KEYS.webhooksDue, 1, `${ORG} ${id}`)
  const claimed = await queue.claim(100)
  assert.deepEqual(
    claimed.deliveries.map(({ webhook_id }) => webhook_id),
    ['whk_b'],
  )
  assert.deepEqual(
    new Set(claimed.waiting),
    new Set([...others, 'whk_a'].map((id) => `${ORG} ${id}`)),
  )
  assert.ok((claimed.next_due_in_ms ?? 0) > 10_000, 'the end of the lease, not at once')
  const again = await queue.claim(100)
  assert.equal(again.deliveries.length, 0)
  await redis.hset(webhooks, 'whk_a', '{}')
  const { deliveries } = await queue.claim(100)
  assert.deepEqual(
    deliveries.map(({ webhook_id }) => webhook_id),
    ['whk_a'],
  )
})

test('a thousand webhooks of a newer version keep no worker busy, and a delivery behind them goes out', async (t) => {
  const bodies: string[] = []
  const receiver = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => bodies.push(text))
    request.on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  t.after(() => receiver.close())
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const queue = queueWith({})
  const webhooks = REDIS_KEYS.webhooks(ORG)
  const newer = JSON.stringify({ store_format: STORE_FORMAT + 1 })
  // Of other organizations, since one has at most a hundred. They have been due for longer.
  const waiting = Array.from({ length: 1_000 }, (_, n) => `org_${n % 10} whk_newer_${n}`)
  for (const [i, member] of waiting.entries()) {
    const [organization_id = '', webhook_id = ''] = member.split(' ')
    await redis.hset(REDIS_KEYS.webhooks(organization_id), webhook_id, newer)
    await redis.zadd(REDIS_KEYS.webhooksDue, i + 1, member)
  }
  const readable = {
    webhook_id: 'whk_a',
    organization_id: ORG,
    name: 'readable',
    url: `http://127.0.0.1:${port}/`,
    events: ['agent_killed'],
    secret: null,
    previous_secret: null,
    created_at: new Date().toISOString(),
  } satisfies Webhook
  await redis.hset(webhooks, 'whk_a', recordText(readable))
  await redis.hset(webhooks, 'whk_b', newer)
  await record('agent_killed')
  await relayAll(queue)

  // The clock stands still: the worker goes on only where it does not pause.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let claims = 0
  class Counted extends DeliveryQueue {
    override claim(...range: Parameters<DeliveryQueue['claim']>) {
      claims++
      return super.claim(...range)
    }
  }
  const log = { warn: () => {}, info: () => {}, debug: () => {}, error: () => {} }
  const ring = parseKeyRing(randomBytes(32).toString('base64'))
  const connect = buildConnector({})
  const sender = { connect, connectTrusting: () => connect, limit_ms: 10_000 }
  const settings = { apiUrl: null, apiHost: '127.0.0.1', apiPort: 8081 }
  const worker = new DeliveryWorker({
    queue: new Counted(redis, [0, 60_000]),
    redis,
    attempt: (webhook, message) =>
      attemptDelivery({ sender, ring, now: () => new Date(), settings }, webhook, message),
    now: () => new Date(),
    log: log as never,
    onFailing: () => {},
  })
  /** Much more than a worker needs that does not pause. */
  const roundTrips = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) await redis.ping()
  }
  t.after(() => worker.stop())
  worker.start()
  await roundTrips()
  assert.equal(claims, 1, 'it pauses, although deliveries are due')
  assert.deepEqual(bodies, [])
  t.mock.timers.tick(LOOK_INTERVAL_MS)
  await roundTrips()
  while (worker.running > 0) await redis.ping()
  assert.equal(bodies.length, 1)
  const state = await redis.hgetall(REDIS_KEYS.webhookState('whk_a'))
  assert.equal(state['success_count'], '1')
})

test('a lease that is over gives the delivery to another process, and a late outcome counts only until then', async () => {
  const queue = queueWith({ lease_ms: 1 })
  await record('permission_denied')
  await relayAll(queue)
  const claim = async () => (await queue.claim(1)).deliveries[0]
  const [first, second] = [await claim(), await claim()]
  assert.ok(first && second)
  let again = await claim()
  while (again?.delivery_id !== first.delivery_id) again = await claim()
  assert.equal((await queue.settle(first, attempt(true), 8)).is_noted, false)
  assert.equal((await queue.settle(again, attempt(true), 8)).is_noted, true)
  assert.equal((await queue.settle(again, attempt(true), 8)).is_noted, false, 'twice is once')
  const state = await redis.hgetall(REDIS_KEYS.webhookState(first.webhook_id))
  assert.equal(state['success_count'], '1')
})
