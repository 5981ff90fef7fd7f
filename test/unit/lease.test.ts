import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { lease } from '../../core/redis/lease.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'

const KEY = REDIS_KEYS.logExporter
const { beaconLeader, epoch, edgeBeats, beatClock } = REDIS_KEYS
const BEACON_KEYS = [beaconLeader, epoch, edgeBeats, beatClock] as const
const HOUR_MS = 3_600_000
let redis: RedisClient
before(async () => {
  redis = (await unitStore()).redis
})

test('a lease has one holder, who learns whether it was interrupted and releases its own alone', async () => {
  await redis.flushall()
  assert.equal(await lease.hold(redis, KEY, 'one', 50), 'taken')
  assert.equal(await lease.hold(redis, KEY, 'one', 50), 'renewed')
  assert.equal(await lease.hold(redis, KEY, 'two', 10_000), 'not ours')
  await until('it is free', async () => (await redis.exists(KEY)) === 0)
  assert.equal(await lease.hold(redis, KEY, 'two', 10_000), 'taken')
  assert.equal(await lease.hold(redis, KEY, 'one', 50), 'not ours')
  await lease.release(redis, KEY, 'one')
  assert.equal(await redis.get(KEY), 'two')
  await lease.release(redis, KEY, 'two')
  assert.equal(await lease.hold(redis, KEY, 'one', 50), 'taken')
})

test('contenders at the same time: one takes it', async () => {
  await redis.flushall()
  const all = Array.from({ length: 50 }, (_, n) => lease.hold(redis, KEY, `process ${n}`, 10_000))
  const held = (await Promise.all(all)).filter((how) => how === 'taken')
  assert.equal(held.length, 1)
})

test('the lease of a dead process lasts for its own length at most, also when the clock of the store stepped back', async () => {
  await redis.flushall()
  for (const [key, contend] of [
    [KEY, () => lease.hold(redis, KEY, 'two', 2_000)],
    [REDIS_KEYS.beaconLeader, () => runScript(redis, 'beacon', BEACON_KEYS, ['two', 2_000, 'c'])],
  ] as const) {
    await redis.set(key, 'dead', 'PX', HOUR_MS + 2_000)
    await contend()
    const left_ms = await redis.pttl(key)
    assert.ok(left_ms > 0 && left_ms <= 2_000, `${key} ${left_ms}`)
    assert.equal(await redis.get(key), 'dead')
  }
})
