import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { INDEX_FORM } from '../../core/activity/activity-index.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { alertOfEntry } from '../../admin/alerts/alert-of-entry.ts'
import { floodEntry } from '../../core/activity/flood-entry.ts'
import { observedCall } from '../../core/anomaly/observed-call.ts'
import { tellFloods } from '../../admin/activity/tell-floods.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { RestrictionBoard } from '../../ext-proc/kill/restriction-board.ts'
import { makeAutoKiller } from '../../ext-proc/kill/make-auto-killer.ts'
import { GivenUpError, LogWriter } from '../../core/change/log-writer.ts'
import { recordLines } from '../../core/change/record-entries.ts'
import { ActivityRecorder } from '../../ext-proc/record/activity-recorder.ts'
import { logEntries } from '../kit/log-entries.ts'
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
  // As an edge connects: a command fails immediately while the store is unavailable.
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
  (await logEntries(redis, ORG)).filter(({ id }) => id === entry.id).length

test('while the store is unavailable the process log reports it every five seconds, with a count, and nothing is lost', async () => {
  await connected()
  await valkey.kill()
  const entry = activityEntry('request_allowed')
  recorder.allowed(entry)
  await recorder.flush()
  assert.equal(warnings.length, 1)
  assert.equal(warnings[0]?.message, 'the activity log cannot be written')
  assert.equal(warnings[0]?.['failures'], 1)
  for (now_ms of [0, 0, 1, 4_999]) await recorder.flush()
  assert.equal(warnings.length, 1, 'reported once, however often it fails')
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

const logged = async (agent_id: string | null): Promise<ActivityEntry[]> =>
  (await logEntries(redis, ORG)).filter((entry) => entry.agent_id === agent_id)

const suppressedOf = (entries: readonly ActivityEntry[]): unknown[] =>
  entries.map(({ data }) => data['suppressed']).filter((number) => number !== undefined)

test('much that came together is written at once, a little with what comes in the next tenth of a second', async () => {
  await connected()
  const waiting = (): number => recorder.metrics.agw_activity_waiting_entries
  const take = (count: number): void => {
    for (let i = 0; i < count; i++) recorder.allowed(activityEntry('request_allowed'))
    recorder.settle()
  }
  const inLog = async (): Promise<number> => (await logEntries(redis, ORG)).length
  const before = await inLog()
  take(31)
  assert.equal(waiting(), 31)
  take(1)
  assert.equal(waiting(), 0)
  take(5)
  assert.equal(waiting(), 5)
  await until('all are in the log', async () => (await inLog()) === before + 37)
})

test('a flood is reported where it was: an entry of each agent, reason and minute says how many more there were', async () => {
  await connected()
  await redis.hset(REDIS_KEYS.organizations, ORG, '{}')
  await redis.hset(REDIS_KEYS.agents(ORG), 'agt_flood', '{"agent_name":"flooding"}')
  const minute = 29_000_000
  now_ms = minute * 60_000
  const refuse = (agent_id: string | null, reason: ActivityEntry['reason']): Promise<void> =>
    recorder.refused(activityEntry('request_rejected', { agent_id, reason }))
  const refuseOften = async (count: number, agent_id: string | null): Promise<void> => {
    for (let i = 0; i < count; i++) await refuse(agent_id, 'rate_limit_exceeded')
  }
  await refuseOften(125, 'agt_flood')
  await refuseOften(123, null)
  await refuse('agt_flood', 'permission_denied')
  const due = new Date((minute + 1) * 60_000 + 5_000)
  assert.equal(await tellFloods(redis, new Date(due.getTime() - 1)), 0, 'the minute runs')
  const tellers = await Promise.all([1, 2, 3].map(() => tellFloods(redis, due)))
  assert.deepEqual(
    tellers.toSorted((a, b) => a - b),
    [0, 0, 2],
    'once, however many processes there are',
  )
  const entries = await logged('agt_flood')
  assert.equal(entries.length, 122, 'a reason of which all are recorded has no count')
  const { id: _id, ...told } = entries.at(-1) ?? activityEntry('request_allowed')
  assert.deepEqual(told, {
    ...told,
    event: 'rate_limit_exceeded',
    timestamp: new Date((minute + 1) * 60_000 - 1).toISOString(),
    agent_name: 'flooding',
    reason: 'rate_limit_exceeded',
    decision: 'blocked',
    request_id: null,
    data: { suppressed: 5 },
  })
  assert.deepEqual(suppressedOf(await logged(null)), [3])
  // What an edge counts late is reported as well, and nothing twice.
  await refuseOften(2, 'agt_flood')
  assert.equal(await tellFloods(redis, due), 1)
  assert.deepEqual(suppressedOf(await logged('agt_flood')), [5, 2])
  assert.equal(await tellFloods(redis, due), 0)
  assert.equal(await redis.zcard(REDIS_KEYS.refusalFloods), 0)
})

test('the entry of a flood is no call to learn from, and raises no alert', () => {
  const flood = {
    organization_id: ORG,
    agent_id: 'agt_flood',
    agent_name: null,
    minute: 29_000_000,
  }
  for (const reason of ['security_block', 'permission_denied', 'key_not_allowed']) {
    const entry = floodEntry({ ...flood, reason, suppressed: 7 }, 29_000_001 * 60_000)
    assert.equal(observedCall(entry), null, reason)
    assert.equal(alertOfEntry(entry)?.count ?? null, reason === 'security_block' ? 7 : null)
  }
})

test('a flood does not recreate the log of a deleted organization', async () => {
  await connected()
  const name = 'org_gone 29000000'
  await redis.hset(REDIS_KEYS.refusalCounts('org_gone', 29_000_000), 'agt_a permission_denied', 9)
  await redis.zadd(REDIS_KEYS.refusalFloods, 1, name)
  assert.equal(await tellFloods(redis, new Date()), 0)
  assert.equal(await redis.exists(REDIS_KEYS.activity('org_gone')), 0)
  assert.equal(await redis.zscore(REDIS_KEYS.refusalFloods, name), null)
})

test('a flood of an agent that a newer version has stored is reported without its name, and holds up no other', async () => {
  await connected()
  await redis.hset(REDIS_KEYS.organizations, ORG, '{}')
  const record = { agent_name: 'newer', store_format: STORE_FORMAT + 1 }
  await redis.hset(REDIS_KEYS.agents(ORG), 'agt_newer', JSON.stringify(record))
  for (const [at, agent_id] of ['agt_newer', 'agt_after'].entries()) {
    const minute = 29_000_100 + at
    await redis.hset(REDIS_KEYS.refusalCounts(ORG, minute), `${agent_id} permission_denied`, 9)
    await redis.zadd(REDIS_KEYS.refusalFloods, at, `${ORG} ${minute}`)
  }
  assert.equal(await tellFloods(redis, new Date()), 2)
  assert.deepEqual(suppressedOf(await logged('agt_after')), [9])
  const [told] = await logged('agt_newer')
  assert.deepEqual([told?.agent_name, told?.data['suppressed']], [null, 9])
})

const idsOf = async (agent_id: string): Promise<readonly string[]> =>
  (await logged(agent_id)).map(({ id }) => id)

test('refusals while the store is unavailable are written, in order and once, when it answers', async () => {
  await connected()
  const refused = (agent_id: string): ActivityEntry =>
    activityEntry('request_rejected', { agent_id, reason: 'permission_denied' })
  const before = refused('agt_waits')
  await recorder.refused(before)
  await valkey.kill()
  const entries = Array.from({ length: 42 }, () => refused('agt_waits'))
  for (const entry of entries) await recorder.refused(entry)
  assert.equal(recorder.metrics.agw_activity_waiting_entries, 42)
  await valkey.start()
  await connected()
  await until('nothing waits', () => recorder.metrics.agw_activity_waiting_entries === 0)
  assert.deepEqual(
    await idsOf('agt_waits'),
    [before, ...entries].map(({ id }) => id),
  )
  assert.equal(recorder.metrics.agw_activity_lost_total, 0)
})

test('refusals of two organizations are written in the order of each', async () => {
  await connected()
  await valkey.kill()
  const entries = Array.from({ length: 300 }, (_, i) =>
    activityEntry('request_rejected', {
      agent_id: 'agt_by_turns',
      organization_id: i % 2 === 0 ? ORG : 'org_other',
      reason: `reason_${i}` as Reason,
    }),
  )
  for (const entry of entries) await recorder.refused(entry)
  await valkey.start()
  await connected()
  await until('nothing waits', () => recorder.metrics.agw_activity_waiting_entries === 0)
  for (const organization_id of [ORG, 'org_other'])
    assert.deepEqual(
      (await logEntries(redis, organization_id))
        .filter(({ agent_id }) => agent_id === 'agt_by_turns')
        .map(({ id }) => id),
      entries.filter((one) => one.organization_id === organization_id).map(({ id }) => id),
    )
})

test('a flood over many agents is reported whole', async () => {
  await connected()
  await redis.hset(REDIS_KEYS.organizations, ORG, '{}')
  const counts = Object.fromEntries(
    Array.from({ length: 250 }, (_, i) => [`agt_many_${i} permission_denied`, i + 1]),
  )
  await redis.hset(REDIS_KEYS.refusalCounts(ORG, 29_000_200), counts)
  await redis.zadd(REDIS_KEYS.refusalFloods, 1, `${ORG} 29000200`)
  assert.equal(await tellFloods(redis, new Date()), 250)
  assert.equal(await redis.zscore(REDIS_KEYS.refusalFloods, `${ORG} 29000200`), null)
})

test('the counts of a flood wait for the store too, and so does what is beyond the bound', async () => {
  await connected()
  await redis.hset(REDIS_KEYS.organizations, ORG, '{}')
  const minute = 29_100_000
  now_ms = minute * 60_000
  await valkey.kill()
  for (let i = 0; i < 130; i++)
    await recorder.refused(
      activityEntry('request_rejected', { agent_id: 'agt_counted', reason: 'permission_denied' }),
    )
  await recorder.refusedUnknown('invalid_api_key', {})
  assert.equal(recorder.metrics.agw_activity_waiting_entries, 131)
  await valkey.start()
  await connected()
  await until('nothing waits', () => recorder.metrics.agw_activity_waiting_entries === 0)
  assert.equal((await idsOf('agt_counted')).length, 120)
  const field = 'agt_counted permission_denied'
  assert.equal(await redis.hget(REDIS_KEYS.refusalCounts(ORG, minute), field), '10')
  assert.equal(await redis.hget(REDIS_KEYS.unknownCalls(minute), 'invalid_api_key'), '1')
})

test('an automatic kill that the store could not take is written when it answers', async () => {
  await connected()
  const agent: Agent = {
    organization_id: ORG,
    agent_id: 'agt_auto',
    agent_name: 'auto',
    status: 'active',
    created_at: new Date().toISOString(),
    killed_at: null,
    kill_reason: null,
    revision: 1,
    metadata: {},
  }
  await redis.hset(REDIS_KEYS.agents(ORG), agent.agent_id, JSON.stringify(agent))
  const autoKill = makeAutoKiller({
    redis,
    killBoard: new RestrictionBoard(() => undefined),
    lease_ms: 3_000,
    edge_id: 'edge-1',
    nowMs: () => performance.now(),
    now: () => new Date(),
    log: { warn: () => undefined },
  })
  await valkey.kill()
  const order = { kill_method: 'auto_injection', reason: 'test' } as const
  assert.equal(await autoKill(agent, order), false)
  await valkey.start()
  await until('the agent is killed', async () => {
    const text = await redis.hget(REDIS_KEYS.agents(ORG), agent.agent_id).catch(() => null)
    return text !== null && (JSON.parse(text) as Agent).status === 'killed'
  })
})

test('what a paused store has taken is written once, though its writer has connected again and repeated it', async () => {
  await connected()
  const refusals = Array.from({ length: 3 }, () =>
    activityEntry('request_rejected', { decision: 'blocked', reason: 'permission_denied' }),
  )
  const calls = Array.from({ length: 5 }, () => activityEntry('request_allowed'))
  for (let round = 0; round < 2; round++) {
    process.kill(valkey.pid(), 'SIGSTOP')
    try {
      for (const entry of calls) recorder.allowed(entry)
      // Both wait for an answer in vain; the store has their bytes.
      await Promise.all([recorder.flush(), ...refusals.map((entry) => recorder.refused(entry))])
      redis.stream.destroy()
      await until('it connects again', () => redis.status !== 'ready')
    } finally {
      process.kill(valkey.pid(), 'SIGCONT')
    }
    await connected()
    await until('nothing waits', async () => {
      await recorder.flush()
      return recorder.metrics.agw_activity_waiting_entries === 0
    })
    for (const entry of [...refusals, ...calls]) assert.equal(await written(entry), round + 1)
    assert.equal(recorder.metrics.agw_activity_lost_total, 0)
  }
})

test('a write that was given up is not run, whenever the store reads it', async () => {
  await connected()
  const writer = new LogWriter(redis)
  const [early, late] = [activityEntry('request_allowed'), activityEntry('request_allowed')]
  const line = (entry: ActivityEntry): string => `\t${JSON.stringify(entry)}\n`
  const first = writer.next('log')
  await recordLines(redis, ORG, [line(early)], first)
  const second = writer.next('log')
  assert.deepEqual(await writer.giveUp(['log', 'other']), [first.batch, null])
  await assert.rejects(recordLines(redis, ORG, [line(late)], second), GivenUpError)
  assert.equal(await written(late), 0)
  await recordLines(redis, ORG, [line(late)], writer.next('log'))
  assert.deepEqual([await written(early), await written(late)], [1, 1])
  assert.deepEqual(await writer.giveUp(['log']), [second.batch + 1])
})

test('a call has one entry, whoever decides it and however it ends, unless it passes after a refusal', async () => {
  await connected()
  await redis.hset(REDIS_KEYS.activityDigest(ORG), 'form', INDEX_FORM)
  const decided = (decision: ActivityEntry['decision'], request_id: string): ActivityEntry => ({
    ...activityEntry('request_allowed'),
    agent_id: 'agt_once',
    decision,
    request_id,
  })
  // Envoy asks another process when one has died that had refused the call.
  const [first, again] = [decided('blocked', 'r1'), decided('blocked', 'r1')]
  await recorder.refused(first)
  await recorder.refused(again)
  // A call that is cut may have ended by itself; there are enough others for a block.
  const cut = decided('terminated', 'r2')
  await recorder.refused(cut)
  const allowed = ['r3', 'r2', 'r4', 'r5'].map((id) => decided('allowed', id))
  for (const one of allowed) recorder.allowed(one)
  await recorder.flush()
  const rows = await redis.xlen(REDIS_KEYS.activity(ORG))
  // Calls that were not cut have a block.
  for (const id of ['r6', 'r7', 'r8']) recorder.allowed(decided('allowed', id))
  await recorder.flush()
  assert.equal(await redis.xlen(REDIS_KEYS.activity(ORG)), rows + 1)
  // A process that was stopped cuts a call that has ended meanwhile.
  await recorder.refused(decided('terminated', 'r7'))
  // The process that refused it has died before the answer.
  recorder.allowed(decided('allowed', 'r1'))
  await recorder.flush()
  // An entry that decides no call is none of them, whatever it names.
  for (const data of [{ request_id: 'r1' }, { request_id: 'r1', decision: 'blocked' }])
    await recorder.refused({ ...decided(null, 'r1'), data })
  const found = (await logged('agt_once')).map(({ decision, request_id }) => [decision, request_id])
  assert.deepEqual(found, [
    ['blocked', 'r1'],
    ['terminated', 'r2'],
    ['allowed', 'r3'],
    ['allowed', 'r4'],
    ['allowed', 'r5'],
    ['allowed', 'r6'],
    ['allowed', 'r7'],
    ['allowed', 'r8'],
    ['allowed', 'r1'],
    [null, 'r1'],
    [null, 'r1'],
  ])
})
