import assert from 'node:assert/strict'
import { before, test as nodeTest } from 'node:test'
import { keepSchedules } from '../../admin/activity/keep-schedules.ts'
import { makeClockWatch } from '../../admin/status/make-clock-watch.ts'
import { makeLostWatch } from '../../admin/status/make-lost-watch.ts'
import { countEdges } from '../../admin/status/stats-routes.ts'
import { findSession, openSession, SESSION_IDLE_MS } from '../../admin/access/sessions.ts'
import { hashKey } from '../../core/keys/api-key.ts'
import { wrongClocks } from '../../core/control/clock-skews.ts'
import { followStore, type StoreClock } from '../../core/control/store-clock.ts'
import { liveEdges } from '../../core/control/live-edges.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { unitStore } from '../kit/unit-store.ts'

// The clock of a store cannot be set in a test: what it has written before it stepped back is written here, an hour ahead.

const ORG = 'org_default'
const HOUR_MS = 3_600_000
const LEASE_MS = 3_000
let redis: RedisClient
before(async () => {
  redis = (await unitStore()).redis
})
function test(name: string, run: () => Promise<void>): void {
  nodeTest(name, async () => {
    await redis.flushall()
    await run()
  })
}

async function storeMs(): Promise<number> {
  const [seconds, micros] = await redis.time()
  return Number(seconds) * 1000 + Number(micros) / 1000
}

const beat = (process_id: string, record: object | ''): Promise<unknown> =>
  runScript(
    redis,
    'beat',
    [
      REDIS_KEYS.edges,
      REDIS_KEYS.edgeBeats,
      REDIS_KEYS.beatClock,
      REDIS_KEYS.epoch,
      REDIS_KEYS.lostEdges,
    ],
    [process_id, record === '' ? '' : JSON.stringify(record), 60_000],
  )

/** An edge whose last heartbeat was a second old when the clock of the store was at this distance from now, in that run of it. */
async function anEdgeBefore(step_ms: number, run?: string): Promise<void> {
  const then_ms = Math.floor(await storeMs()) + step_ms
  const own = /run_id:(\w+)/.exec(await redis.info('server'))?.[1]
  await redis.set(REDIS_KEYS.beatClock, `${then_ms} ${run ?? own}`)
  await redis.zadd(REDIS_KEYS.edgeBeats, then_ms - 1_000, 'silent')
}

for (const [step_ms, run, what] of [
  [HOUR_MS, undefined, 'stepped back'],
  [-HOUR_MS, undefined, 'stepped forward'],
  [-300, 'f00d', 'is that of another node, which may have lost heartbeats'],
] as const)
  test(`an edge counts as live until its lease is over, and no longer, when the clock ${what}`, async () => {
    await anEdgeBefore(step_ms, run)
    const age_ms = (await liveEdges(redis, HOUR_MS)).get('silent') ?? Number.NaN
    // It counts from now, or is moved with the clock.
    assert.equal(age_ms < 1_000, run !== undefined, String(age_ms))
    await beat('alive', { edge_id: 'alive' })
    const score = Number(await redis.zscore(REDIS_KEYS.edgeBeats, 'silent'))
    assert.ok(score <= (await storeMs()), 'from here on its lease runs out')
    assert.deepEqual([...(await liveEdges(redis, LEASE_MS)).keys()].sort(), ['alive', 'silent'])
  })

test('deliveries, mails and floods keep their distance', async () => {
  const { webhooksDue, killMails, webhookNotices, rateFloods, revocationsDue, storeClock } =
    REDIS_KEYS
  const queue = REDIS_KEYS.webhookQueue('whk_1')
  const inFlight = REDIS_KEYS.webhookInFlight('whk_1')
  const sets = [webhooksDue, killMails, webhookNotices, rateFloods, revocationsDue, queue, inFlight]
  const was_ms = (await storeMs()) + HOUR_MS
  await redis.set(storeClock, was_ms)
  for (const key of sets) await redis.zadd(key, was_ms + 5_000, 'org_default whk_1')
  const steps: number[] = []
  const log = { warn: ({ step_ms }: { step_ms: number }) => void steps.push(step_ms) }
  await keepSchedules({ redis, log: log as never })
  assert.ok(Math.abs((steps[0] ?? 0) - HOUR_MS) < 1_000, String(steps))
  for (const key of sets) {
    const left_ms = Number(await redis.zscore(key, 'org_default whk_1')) - (await storeMs())
    assert.ok(left_ms > 3_000 && left_ms <= 5_001, `${key} ${left_ms}`)
  }
  await keepSchedules({ redis, log: log as never })
  assert.equal(steps.length, 1)
})

test('an idle session ends by the clock of the host too', async () => {
  let now_ms = Date.now()
  const now = (): Date => new Date(now_ms)
  const token = {
    token_id: 'tok_1',
    organization_id: ORG,
    email: 'a@b.c',
    role: 'admin',
    expires_at: null,
  }
  await redis.hset(REDIS_KEYS.adminTokens(ORG), 'tok_1', JSON.stringify(token))
  const settings = { killLease_ms: LEASE_MS }
  const actor = {
    token_id: 'tok_1',
    organization_id: ORG,
    email: 'a@b.c',
    role: 'admin',
    source_ip: null,
  }
  const opened = await openSession({ redis, settings, now } as never, actor as never, 'req_1')
  assert.ok(opened !== null)
  const hash = hashKey(opened.secret)
  const find = (isUse: boolean) =>
    findSession(
      { redis, now },
      { hash, page_hash: hashKey(opened.page_secret) },
      { source_ip: null, isUse },
    )
  now_ms += SESSION_IDLE_MS - 1
  assert.ok((await find(true)) !== null)
  // The store does not end it, as when its clock has stepped back.
  await redis.pexpire(REDIS_KEYS.session(hash), HOUR_MS + SESSION_IDLE_MS)
  now_ms += SESSION_IDLE_MS - 1
  assert.ok((await find(false)) !== null)
  now_ms += 1
  assert.equal(await find(true), null)
})

test('a host whose clock is wrong raises one alert, which closes when it is right', async () => {
  const parts = { redis, organization_id: ORG, lease_ms: LEASE_MS, now: () => new Date() }
  const look = makeClockWatch(parts)
  const alerts = async (): Promise<string[]> => await redis.hkeys(REDIS_KEYS.alertsOpen(ORG))
  const say = (ahead_ms: number) =>
    beat('far', { edge_id: 'far', host: 'far', clock_ms: Date.now() + ahead_ms })
  await say(HOUR_MS)
  await look()
  assert.deepEqual(await alerts(), [], 'one heartbeat may be late')
  await look()
  await look()
  assert.deepEqual(await alerts(), ['clock_skew far'])
  const [alert_id = ''] = await redis.hvals(REDIS_KEYS.alertsOpen(ORG))
  const { title = '', count } = await redis.hgetall(REDIS_KEYS.alert(ORG, alert_id))
  assert.match(title, /^The clock of host far is 3\d{6} ms ahead of that of the store\./)
  assert.equal(count, '1')
  await say(0)
  await look()
  assert.deepEqual(await alerts(), [])
})

nodeTest(
  'a host takes the time of the store where they differ by a second, and says by how much',
  async () => {
    const clockOf = async (ahead_ms: number): Promise<StoreClock> => {
      const store_ms = Date.now() + ahead_ms
      const seconds = Math.floor(store_ms / 1000)
      const time = [String(seconds), String((store_ms - seconds * 1000) * 1000)]
      const clock = followStore({ time: () => Promise.resolve(time) } as never)
      await new Promise((resolve) => setImmediate(resolve))
      return clock
    }
    for (const ahead_ms of [HOUR_MS, -HOUR_MS]) {
      const { ms, offset_ms } = (await clockOf(ahead_ms)).now()
      assert.ok(Math.abs(offset_ms + ahead_ms) < 60_000, String(offset_ms))
      assert.ok(Math.abs(ms - Date.now() - ahead_ms) < 60_000)
    }
    assert.equal((await clockOf(400)).now().offset_ms, 0)
  },
)

nodeTest('the clock of the store is the wrong one where all hosts agree against it', () => {
  const wrong = (skews: Record<string, number>) => [...wrongClocks(new Map(Object.entries(skews)))]
  assert.deepEqual(wrong({ a: HOUR_MS, b: HOUR_MS + 5 }), [['of the store', -HOUR_MS - 5]])
  assert.deepEqual(wrong({ a: HOUR_MS, b: 5 }), [['a', HOUR_MS]])
  assert.deepEqual(wrong({ a: HOUR_MS }), [['a', HOUR_MS]])
  assert.deepEqual(wrong({ a: 999, b: -999 }), [])
})

test('an edge that stopped is silent in the numbers until an alert about it stands', async () => {
  const look = makeLostWatch({
    redis,
    organization_id: ORG,
    lease_ms: LEASE_MS,
    now: () => new Date(),
  })
  await beat('stopped', { edge_id: 'stopped' })
  await redis.zadd(REDIS_KEYS.edgeBeats, (await storeMs()) - 2 * LEASE_MS, 'stopped')
  await beat('gone', { edge_id: 'gone' })
  await redis.zadd(REDIS_KEYS.edgeBeats, (await storeMs()) - 61_000, 'gone')
  // This beat finds it gone, and raises no alert.
  await beat('live', { edge_id: 'live', in_flight: 3 })
  assert.equal(await redis.hlen(REDIS_KEYS.lostEdges), 1)
  assert.deepEqual(await countEdges(redis, LEASE_MS), { live: 1, silent: 2, in_flight: 3 })
  await look()
  assert.deepEqual(await redis.hkeys(REDIS_KEYS.alertsOpen(ORG)), ['edge_lost gone'])
  assert.deepEqual(await countEdges(redis, LEASE_MS), { live: 1, silent: 1, in_flight: 3 })
})

test('a lost edge is an open alert until it is back or acknowledged; one that drains or says goodbye is none', async () => {
  const look = makeLostWatch({
    redis,
    organization_id: ORG,
    lease_ms: LEASE_MS,
    now: () => new Date(),
  })
  const open = async (): Promise<string[]> => (await redis.hkeys(REDIS_KEYS.alertsOpen(ORG))).sort()
  const silence = async (process_id: string): Promise<void> => {
    await redis.zadd(REDIS_KEYS.edgeBeats, (await storeMs()) - 61_000, process_id)
  }
  const fleet = { last: {}, crashed: {}, drains: { draining: true }, planned: {} }
  for (const [edge_id, more] of Object.entries(fleet)) {
    await beat(edge_id, { edge_id, draining: false, ...more })
    if (edge_id !== 'last') await silence(edge_id)
  }
  await beat('planned', '')
  // A process that was replaced under the same name is not lost.
  await beat('last/1', { edge_id: 'last' })
  await silence('last/1')
  await beat('last', { edge_id: 'last' })
  await look()
  assert.deepEqual(await open(), ['edge_lost crashed'])
  // Where no other edge is left, the look itself finds it; a second look counts nothing.
  await silence('last')
  await look()
  await look()
  assert.deepEqual(await open(), ['edge_lost crashed', 'edge_lost last'])
  const [first = ''] = await redis.hvals(REDIS_KEYS.alertsOpen(ORG))
  assert.equal(await redis.hget(REDIS_KEYS.alert(ORG, first), 'count'), '1')
  await beat('crashed/2', { edge_id: 'crashed' })
  await look()
  assert.deepEqual(await open(), ['edge_lost last'])
  // An acknowledged one is not raised again.
  await redis.hdel(REDIS_KEYS.alertsOpen(ORG), 'edge_lost last')
  await look()
  assert.deepEqual(await open(), [])
  // A fleet whose names change: bounded, and the rest is counted.
  for (let n = 0; n < 250; n++) {
    const edge_id = `pod-${String(n).padStart(3, '0')}`
    await beat(edge_id, { edge_id })
    await silence(edge_id)
    if (n === 220) await look()
  }
  await look()
  const abouts = await open()
  assert.equal(abouts.length, 101)
  assert.equal(abouts[100], 'edges_lost')
  assert.equal(await redis.hlen(REDIS_KEYS.lostEdges), 0)
})
