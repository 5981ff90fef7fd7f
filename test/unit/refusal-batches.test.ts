import assert from 'node:assert/strict'
import { afterEach, before, beforeEach, test } from 'node:test'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { logEntries } from '../kit/log-entries.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'

// Refusals of one turn of the event loop are written together, each before its response.

let redis: RedisClient
/** How the store answers scripts; counts them. */
let evalsha: (...args: Parameters<RedisClient['evalsha']>) => Promise<unknown>
let scripts: number
let recorder: ActivityRecorder
let count = 0
let org: string
/** How far the clock has advanced in the minute of the test. */
let since_ms: number
const MINUTE_MS = 60_000

before(async () => {
  ;({ redis } = await unitStore())
})

beforeEach(() => {
  scripts = 0
  since_ms = 0
  org = `org_batches_${++count}`
  evalsha = (...args) => redis.evalsha(...args)
  const counted = (...args: Parameters<RedisClient['evalsha']>): Promise<unknown> => {
    scripts++
    return evalsha(...args)
  }
  const store = new Proxy(redis, {
    get: (target, name) => {
      if (name === 'evalsha') return counted
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  recorder = new ActivityRecorder({
    redis: store,
    nowMs: () => count * MINUTE_MS + since_ms,
    log: { warn: () => undefined, info: () => undefined },
  })
})

afterEach(async () => {
  // The runner's own test around this file has no recorder.
  if (count > 0) await recorder.stop()
})

let number = 0
const refusal = (of: Partial<ActivityEntry> = {}): ActivityEntry => ({
  ...activityEntry('permission_denied'),
  id: `entry-${++number}`,
  organization_id: org,
  ...of,
})

const idsIn = async (organization_id: string): Promise<string[]> =>
  (await logEntries(redis, organization_id)).map(({ id }) => id)

test('refusals of one turn take one script, and each is in the log when its response may be sent', async () => {
  const entries = Array.from({ length: 20 }, () => refusal())
  const seen: boolean[] = []
  await Promise.all(
    entries.map(async (entry) => {
      await recorder.refused(entry)
      seen.push((await idsIn(org)).includes(entry.id))
    }),
  )
  assert.equal(scripts, 1)
  assert.deepEqual(seen, Array(20).fill(true))
  assert.deepEqual((await idsIn(org)).sort(), entries.map(({ id }) => id).sort())
})

test('refusals of different turns are not delayed for each other', async () => {
  await recorder.refused(refusal())
  await recorder.refused(refusal())
  assert.equal(scripts, 2)
})

test('organizations, and more entries than one script takes, are written by scripts of their own', async () => {
  const other = `${org}_other`
  await Promise.all([
    ...Array.from({ length: 70 }, () => recorder.refused(refusal())),
    recorder.refused(refusal({ organization_id: other })),
  ])
  assert.equal(scripts, 3)
  assert.equal((await idsIn(org)).length, 70)
  assert.equal((await idsIn(other)).length, 1)
})

test('allowed calls that must be in the log first share a script with refusals, and fail with it', async () => {
  const entries = Array.from({ length: 3 }, () => refusal({ event: 'request_allowed' }))
  await Promise.all([
    ...entries.map((entry) => recorder.allowedNow(entry)),
    recorder.refused(refusal()),
  ])
  assert.equal(scripts, 1)
  assert.equal((await idsIn(org)).length, 4)
  evalsha = () => Promise.reject(new Error('Command timed out'))
  const taken = await Promise.allSettled(entries.map((entry) => recorder.allowedNow(entry)))
  assert.deepEqual(
    taken.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
})

test('if the store does not take a batch, every refusal of it waits and is written once', async () => {
  for (const error of [
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    // The store may have written it.
    new Error('Command timed out'),
  ]) {
    const entries = Array.from({ length: 5 }, () => refusal())
    evalsha = () => Promise.reject(error)
    await Promise.all(entries.map((entry) => recorder.refused(entry)))
    assert.equal(recorder.metrics.agw_activity_waiting_entries, 5, error.message)
    evalsha = (...args) => redis.evalsha(...args)
    await recorder.stop()
    assert.equal(recorder.metrics.agw_activity_waiting_entries, 0)
    const ids = await idsIn(org)
    for (const { id } of entries) assert.equal(ids.filter((one) => one === id).length, 1)
  }
})

test('a flood is counted by one script a turn, with the right number', async () => {
  const entries = Array.from({ length: 500 }, () =>
    refusal({ event: 'request_rejected', reason: 'invalid_target_url', agent_id: 'agt_flood' }),
  )
  await Promise.all(entries.map((entry) => recorder.refused(entry)))
  const written = (await idsIn(org)).length
  assert.equal(written, 120)
  assert.equal(scripts, 3)
  const counts = await redis.hgetall(REDIS_KEYS.refusalCounts(org, count))
  assert.deepEqual(counts, { 'agt_flood invalid_target_url': String(500 - 120) })
  assert.equal(recorder.metrics.agw_refusals_counted_total, 380)
})

test('counts that the store does not take are kept with their number', async () => {
  const flood = (): ActivityEntry =>
    refusal({ event: 'request_rejected', reason: 'invalid_target_url', agent_id: 'agt_flood' })
  await Promise.all(Array.from({ length: 120 }, () => recorder.refused(flood())))
  evalsha = () =>
    Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"))
  await Promise.all(Array.from({ length: 30 }, () => recorder.refused(flood())))
  assert.equal(recorder.metrics.agw_activity_waiting_entries, 30)
  evalsha = (...args) => redis.evalsha(...args)
  await recorder.stop()
  const counts = await redis.hgetall(REDIS_KEYS.refusalCounts(org, count))
  assert.deepEqual(counts, { 'agt_flood invalid_target_url': '30' })
})

test('a single count that fails again is written when the store takes it', async () => {
  const flood = (): ActivityEntry =>
    refusal({ event: 'request_rejected', reason: 'invalid_target_url', agent_id: 'agt_flood' })
  await Promise.all(Array.from({ length: 120 }, () => recorder.refused(flood())))
  let failures = 0
  evalsha = () => {
    failures++
    const error = new Error('OOM command not allowed')
    error.name = 'ReplyError'
    return Promise.reject(error)
  }
  await recorder.refused(flood())
  await until('the second attempt has failed', () => failures === 2)
  evalsha = (...args) => redis.evalsha(...args)
  since_ms = 1_000
  await until('it is written', () => recorder.metrics.agw_activity_waiting_entries === 0)
  const counts = await redis.hgetall(REDIS_KEYS.refusalCounts(org, count))
  assert.deepEqual(counts, { 'agt_flood invalid_target_url': '1' })
})

test('calls without a known organization are counted together', async () => {
  const key = REDIS_KEYS.unknownCalls(count)
  await redis.del(key)
  await Promise.all([
    ...Array.from({ length: 40 }, () => recorder.refusedUnknown('invalid_api_key', {})),
    recorder.refusedUnknown('authentication_required', {}),
  ])
  assert.deepEqual(await redis.hgetall(key), {
    invalid_api_key: '40',
    authentication_required: '1',
  })
})

test('refusals that a failover has lost are written again, and those that it has kept are not doubled', async () => {
  const entries = Array.from({ length: 6 }, () => refusal())
  for (const entry of entries) await recorder.refused(entry)
  const key = REDIS_KEYS.activity(org)
  const rows = await redis.xrange(key, '-', '+')
  // The new primary lacks the second and the last.
  for (const at of [1, 5]) await redis.xdel(key, rows[at]?.[0] ?? '')
  assert.equal((await idsIn(org)).length, 4)
  for (let i = 0; i < 2; i++) {
    recorder.storeMayHaveChanged()
    await recorder.stop()
  }
  assert.deepEqual((await idsIn(org)).sort(), entries.map(({ id }) => id).sort())
})
