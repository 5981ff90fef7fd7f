import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { ActivityRecorder } from '../../ext-proc/activity/activity-recorder.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
let valkey: KitValkey
let redis: RedisClient
let recorder: ActivityRecorder
let now_ms = 0
let warnings: { readonly message: string; readonly [name: string]: unknown }[] = []

before(async () => {
  valkey = await startValkey()
})
after(() => valkey.stop())
beforeEach(() => {
  now_ms = 0
  warnings = []
  // As an edge connects: a command fails at once while the store is away.
  redis = connectRedis(valkey.url, { name: 'test', role: 'commands' })
  recorder = new ActivityRecorder({
    redis,
    nowMs: () => now_ms,
    log: {
      warn: (data, message) => void warnings.push({ ...data, message }),
      info: () => undefined,
    },
  })
})
afterEach(async () => {
  await recorder.stop()
  redis.disconnect()
})

const connected = (): Promise<unknown> =>
  until('the store answers', () => redis.ping().catch(() => null))

const written = async (entry: ActivityEntry): Promise<number> =>
  (await redis.xrange(REDIS_KEYS.activity(ORG), '-', '+')).filter(([, fields]) =>
    fields[1]?.includes(entry.id),
  ).length

test('while the store is away the process log says so once in five seconds, with how often, and nothing is lost', async () => {
  await connected()
  await valkey.kill()
  const entry = activityEntry('request_allowed')
  recorder.allowed(entry)
  await recorder.flush()
  assert.equal(warnings.length, 1)
  assert.equal(warnings[0]?.message, 'the activity log cannot be written')
  assert.equal(warnings[0]?.['failures'], 1)
  for (now_ms of [0, 0, 1, 4_999]) await recorder.flush()
  assert.equal(warnings.length, 1, 'told of once, however often it fails')
  now_ms = 5_000
  await recorder.flush()
  assert.equal(warnings.length, 2)
  const { failures, waiting, lost } = warnings[1] ?? { message: '' }
  // Those of the recorder's own clock come on top.
  assert.ok(Number(failures) >= 5, `${String(failures)} failures were told of`)
  assert.deepEqual({ waiting, lost }, { waiting: 1, lost: 0 })
  await valkey.start()
  await connected()
  await recorder.stop()
  assert.equal(await written(entry), 1)
  assert.equal(recorder.metrics.agw_activity_lost_total, 0)
})

test('what a store that stands still may have taken is told of as lost, and is not written twice', async () => {
  await connected()
  const entry = activityEntry('request_allowed')
  process.kill(valkey.pid(), 'SIGSTOP')
  try {
    recorder.allowed(entry)
    await recorder.flush()
  } finally {
    process.kill(valkey.pid(), 'SIGCONT')
  }
  assert.equal(warnings.length, 1)
  const { message, error, failures, waiting, lost } = warnings[0] ?? { message: '' }
  assert.equal(message, 'the activity log cannot be written')
  assert.match(String(error), /timed out/)
  assert.deepEqual({ failures, waiting, lost }, { failures: 1, waiting: 0, lost: 1 })
  await connected()
  await recorder.stop()
  assert.ok((await written(entry)) <= 1)
})
