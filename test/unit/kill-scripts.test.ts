import assert from 'node:assert/strict'
import { before, test as nodeTest } from 'node:test'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { commit } from '../../core/change/commit.ts'
import { Acknowledgements } from '../../core/control/acknowledgements.ts'
import type { ControlMessage, ControlTarget } from '../../core/control/control-message.ts'
import { finishKill } from '../../core/kill/finish-kill.ts'
import type { KillCounts } from '../../core/kill/kill-entries.ts'
import { RECEIPT_ROWS_MAX, RECEIPTS_MAX, type StoredReceipt } from '../../core/kill/kill-receipt.ts'
import type { KillRecord } from '../../core/kill/kill-record.ts'
import {
  type CallerProof,
  type KillOrder,
  type PublishedKill,
  publishKill,
} from '../../core/kill/publish-kill.ts'
import { type Reactivated, reactivateAgent } from '../../core/kill/reactivate-agent.ts'
import { restoreState, tellLostAgent } from '../../core/kill/restore-state.ts'
import { sweepKills } from '../../core/kill/sweep-kills.ts'
import { withCounts } from '../../core/kill/with-counts.ts'
import type { Agent, ApiKey } from '../../core/catalogue/model.ts'
import { CHANNELS, REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { NewerFormatError, STORE_FORMAT } from '../../core/store/stored-record.ts'
import { unitStore } from '../kit/unit-store.ts'
import { until } from '../kit/until.ts'
import { anAgent } from './policy-kit.ts'

// The scripts of a kill in a real store, from the first write to the event with its counts.

const ORG = 'org_default'
const LEASE_MS = 3000
const NOW = new Date('2026-06-01T00:00:00.000Z')
const EARLIER = '2026-01-02T00:00:00.000Z'
let redis: RedisClient
let subscription: RedisClient
/** What was published, oldest first. */
const messages: Extract<ControlMessage, { kind: 'control' }>[] = []

before(async () => {
  const store = await unitStore()
  redis = store.redis
  subscription = store.subscription
  subscription.on('message', (_channel: string, text: string) => {
    const message = JSON.parse(text) as ControlMessage
    if (message.kind === 'control') messages.push(message)
  })
  await subscription.subscribe(CHANNELS.control)
})
/** On an empty store. Not `beforeEach`, which would empty it before the tests of every later file of the process too. */
function test(name: string, run: () => Promise<void>): void {
  nodeTest(name, async () => {
    await redis.flushall()
    // Messages of the test before may still be on their way; they arrive before the answer to a ping.
    await subscription.ping()
    messages.length = 0
    await run()
  })
}

const ACTOR = {
  email: 'ops@example.com',
  token_id: 'tok_1',
  source_ip: null,
  request_id: null,
  edge_id: null,
}
const ORDER: KillOrder = {
  organization_id: ORG,
  agent_id: 'agt_a',
  reason: 'it misbehaves',
  kill_method: 'api',
  notify: [],
  actor: ACTOR,
  own_finish_ms: 0,
}
const parts = () => ({ redis, lease_ms: LEASE_MS, nowMs: () => performance.now(), now: () => NOW })

const aKey = (key_id: string, change: Partial<ApiKey> = {}): ApiKey => ({
  key_id,
  organization_id: ORG,
  agent_id: 'agt_a',
  hash: `hash of ${key_id}`,
  last4: 'aaaa',
  name: key_id,
  agent_ids: null,
  uses: ['proxy'],
  created_at: EARLIER,
  expires_at: null,
  revoked_at: null,
  revoked_by: null,
  ...change,
})

async function store(agent: Agent, keys: readonly ApiKey[] = []): Promise<void> {
  await redis.hset(REDIS_KEYS.agents(ORG), agent.agent_id, JSON.stringify(agent))
  for (const [i, key] of keys.entries()) {
    await redis.hset(REDIS_KEYS.apiKeys(ORG), key.key_id, JSON.stringify(key))
    await redis.zadd(REDIS_KEYS.apiKeyIndex(ORG, 'agt_a'), i, key.key_id)
  }
}

async function storedAgent(): Promise<Agent> {
  return JSON.parse((await redis.hget(REDIS_KEYS.agents(ORG), 'agt_a')) ?? 'null')
}

/** Of each key, who has revoked it. */
async function revocations(): Promise<Record<string, string | null>> {
  const keys = Object.entries(await redis.hgetall(REDIS_KEYS.apiKeys(ORG)))
  return Object.fromEntries(
    keys.map(([id, text]) => [id, (JSON.parse(text) as ApiKey).revoked_by] as const),
  )
}

async function entries(): Promise<ActivityEntry[]> {
  const rows = await redis.xrange(REDIS_KEYS.activity(ORG), '-', '+')
  return rows.map(([, [, text = '']]) => JSON.parse(text) as ActivityEntry)
}

const actions = async (): Promise<unknown[]> =>
  (await entries()).map(({ event, data }) => data['action'] ?? event)

async function killed(change: Partial<KillOrder> = {}): Promise<PublishedKill> {
  const kill = await publishKill(parts(), { ...ORDER, ...change })
  assert.ok(kill)
  return kill
}

const records = async (): Promise<Record<string, KillRecord>> =>
  Object.fromEntries(
    Object.entries(await redis.hgetall(REDIS_KEYS.kills)).map(([epoch, text]) => [
      epoch,
      JSON.parse(text) as KillRecord,
    ]),
  )

/** What was published since the test began, once the channel has brought it. */
async function published(count: number): Promise<readonly (readonly ControlTarget[])[]> {
  await until('the messages', () => messages.length >= count)
  return messages.map(({ targets }) => targets)
}

/** An edge whose last beat was so long ago. */
async function anEdge(edge_id: string, silent_ms = 0): Promise<void> {
  const [seconds] = await redis.time()
  await redis.zadd(REDIS_KEYS.edgeBeats, Number(seconds) * 1000 - silent_ms, edge_id)
}

const acknowledge = (
  epoch: number,
  edge_id: string,
  terminated = 0,
  how: 'always' | 'if absent' = 'always',
  ending = 0,
): Promise<unknown> =>
  runScript(
    redis,
    'acknowledge',
    [REDIS_KEYS.acknowledgements(epoch)],
    [
      edge_id,
      JSON.stringify({
        epoch,
        edge_id,
        region: 'r',
        terminated,
        unconfirmed: ending,
        ...(ending > 0 ? { ending } : {}),
      }),
      CHANNELS.acknowledgements,
      60,
      how === 'if absent' ? 1 : 0,
    ],
  )

test('a kill switches the agent off, revokes the keys that still worked, and says so to every edge', async () => {
  await store(anAgent({ revision: 4 }), [
    aKey('one'),
    aKey('two'),
    aKey('given up', { revoked_at: EARLIER, revoked_by: 'operator' }),
  ])
  await anEdge('here')
  await anEdge('late', LEASE_MS - 1000)
  await anEdge('gone', LEASE_MS + 2000)
  const { epoch, edges, record, credentials_revoked } = await killed()
  const agent = await storedAgent()
  assert.equal(agent.status, 'killed')
  assert.equal(agent.killed_at, NOW.toISOString())
  assert.equal(agent.kill_reason, 'it misbehaves')
  assert.ok(agent.revision > 4)
  assert.equal(record.revision, agent.revision)
  assert.equal(credentials_revoked, 2)
  assert.deepEqual(await revocations(), { one: 'kill', two: 'kill', 'given up': 'operator' })
  assert.deepEqual([...edges].sort(), ['here', 'late'], 'those whose lease may still run')
  assert.deepEqual(await actions(), ['agent.kill'])
  assert.deepEqual(Object.keys(await records()), [String(epoch)])
  const { revision, killed_at } = record
  assert.deepEqual(await published(1), [
    [
      { what: 'kill', organization_id: ORG, agent_id: 'agt_a', revision, killed_at },
      { what: 'key', hash: 'hash of one' },
      { what: 'key', hash: 'hash of two' },
    ],
  ])
  assert.equal(messages[0]?.epoch, epoch)
})

test('a revision is higher than any that an edge can remember, whatever the store has lost', async () => {
  await store(anAgent())
  const first = await killed()
  await store(anAgent({ revision: 2 }))
  const second = await killed()
  assert.ok(second.record.revision >= first.record.revision)
  const far = Number.MAX_SAFE_INTEGER - 5
  await store(anAgent({ revision: far }))
  assert.equal((await killed()).record.revision, far + 1, 'also than one of a clock that was ahead')
})

test('an agent that is killed again keeps the time and the reason, owes no event, and is published again', async () => {
  await store(anAgent(), [aKey('one')])
  const first = await killed()
  const second = await killed({ reason: 'once more' })
  assert.equal(second.record.revision, first.record.revision)
  assert.equal(second.record.event, null)
  assert.ok(first.record.event)
  assert.equal(second.credentials_revoked, 0)
  assert.equal((await storedAgent()).kill_reason, 'it misbehaves')
  assert.ok(second.epoch > first.epoch)
  assert.equal((await published(2)).length, 2)
  assert.deepEqual(await actions(), ['agent.kill', 'agent.kill'])
})

test('an unknown agent is not killed, and nothing is written', async () => {
  assert.equal(await publishKill(parts(), ORDER), null)
  assert.deepEqual(await redis.keys('*'), [])
})

test('a change whose guard fails writes nothing, counts nothing and publishes nothing', async () => {
  await store(anAgent())
  const agents = REDIS_KEYS.agents(ORG)
  const target: ControlTarget = { what: 'key', hash: 'h' }
  const change = (guards: Parameters<typeof commit>[1]['guards']) =>
    commit(redis, { guards, writes: [['SET', 'written', '@epoch']], targets: [target] }, LEASE_MS)
  const refused = [
    [['HGET', agents, 'agt_a', 'another text']],
    [['HGET', agents, 'agt_a', false]],
    [['HGET', agents, 'agt_b', true]],
    [['EXISTS', agents, '', false]],
    [['EXISTS', 'nothing', '', true]],
    [['ZCARD', 'nothing', '', '1']],
    [['HLEN', agents, '', '2']],
  ] as const
  for (const guards of refused)
    assert.deepEqual(await change(guards), { kind: 'refused', guard: 0 }, JSON.stringify(guards))
  assert.deepEqual(
    await change([['HLEN', agents, '', '1'], ...(refused[0] ?? [])]),
    { kind: 'refused', guard: 1 },
    'the first that does not hold',
  )
  assert.equal(await redis.exists('written', REDIS_KEYS.epoch), 0)
  const done = await change([['HGET', agents, 'agt_a', true]])
  assert.ok(done.kind === 'committed')
  assert.equal(await redis.get('written'), String(done.epoch))
  assert.deepEqual(await published(1), [[target]])
  assert.equal(messages[0]?.epoch, done.epoch)
})

test('a full store refuses a change, and takes a kill, its acknowledgements, its event and a reactivation', async () => {
  await store(anAgent(), [aKey('one')])
  await redis.config('SET', 'maxmemory', '1')
  try {
    const change = { guards: [], writes: [['SET', 'a', 'b'] as const], targets: [] }
    await assert.rejects(commit(redis, change, LEASE_MS), /OOM/)
    const kill = await killed()
    await acknowledge(kill.epoch, 'edge', 1)
    assert.equal(await finishKill(redis, kill.epoch, textOf(kill), COUNTS, null, null), true)
    assert.ok((await reactivated())?.was_killed)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
})

const COUNTS: KillCounts = {
  requests_terminated: 3,
  tunnels_terminated: 0,
  unconfirmed: 0,
  propagation_ms: 2,
  complete: true,
  metadata: { last_request: null, requests_last_hour: 0 },
}
const textOf = ({ record, record_text }: PublishedKill) => ({ record, text: record_text })
const eventsOf = async (event: string): Promise<ActivityEntry[]> =>
  (await entries()).filter((entry) => entry.event === event)

test('the event of a kill is written once, with its counts, by the first process that finishes it', async () => {
  await store(anAgent(), [aKey('one')])
  await redis.hset(REDIS_KEYS.webhookSubscriptions(ORG), 'agent_killed', 1)
  const kill = await killed({ notify: ['email'] })
  assert.equal(await finishKill(redis, kill.epoch, textOf(kill), COUNTS, null, null), true)
  assert.equal(await finishKill(redis, kill.epoch, textOf(kill), COUNTS, null, null), false)
  const [event, ...others] = await eventsOf('agent_killed')
  assert.deepEqual(others, [])
  assert.equal(event?.data['requests_terminated'], 3)
  assert.equal(event?.data['reason'], 'it misbehaves')
  assert.equal(await redis.xlen(REDIS_KEYS.outbox), 1)
  assert.equal(await redis.zcard(REDIS_KEYS.killMails), 1)
  assert.deepEqual(await records(), {})
})

test('a process whose record has changed since it was read writes nothing', async () => {
  await store(anAgent())
  const kill = await killed()
  const changed = JSON.stringify({ ...kill.record, last_published_ms: 7 })
  await redis.hset(REDIS_KEYS.kills, kill.epoch, changed)
  assert.equal(await finishKill(redis, kill.epoch, textOf(kill), COUNTS, null, null), false)
  assert.deepEqual(await eventsOf('agent_killed'), [])
  assert.equal(await redis.hget(REDIS_KEYS.kills, String(kill.epoch)), changed)
  const text = { record: kill.record, text: changed }
  assert.equal(await finishKill(redis, kill.epoch, text, COUNTS, null, null), true)
})

test('a kill without subscribers is only in the log', async () => {
  await store(anAgent())
  const kill = await killed()
  await finishKill(redis, kill.epoch, textOf(kill), COUNTS, null, null)
  assert.equal((await eventsOf('agent_killed')).length, 1)
  assert.equal(await redis.exists(REDIS_KEYS.outbox, REDIS_KEYS.killMails), 0)
})

test('an acknowledgement is stored, then published; one that must not replace another leaves it', async () => {
  const counts = async (): Promise<unknown> => {
    const text = (await redis.hget(REDIS_KEYS.acknowledgements(7), 'edge')) ?? '{}'
    const { terminated, stored_us } = JSON.parse(text) as Record<string, number>
    assert.ok(Number(stored_us) > 1e15)
    return terminated
  }
  assert.equal(await acknowledge(7, 'edge', 2, 'if absent'), 1)
  assert.equal(await counts(), 2)
  assert.equal(await acknowledge(7, 'edge', 0, 'if absent'), 0)
  assert.equal(await counts(), 2)
  assert.equal(await acknowledge(7, 'edge', 5), 1)
  assert.equal(await counts(), 5)
  assert.ok((await redis.ttl(REDIS_KEYS.acknowledgements(7))) > 50)
})

const sweep = (): Promise<number> =>
  sweepKills({ redis, lease_ms: LEASE_MS, log: { warn: () => undefined } })

/** The record of a kill, as if it had been made so long ago. */
async function age(kill: PublishedKill, ms: number): Promise<void> {
  const { published_ms, last_published_ms, finish_after_ms } = kill.record
  const record: KillRecord = {
    ...kill.record,
    published_ms: published_ms - ms,
    last_published_ms: last_published_ms - ms,
    finish_after_ms: finish_after_ms - ms,
  }
  await redis.hset(REDIS_KEYS.kills, String(kill.epoch), JSON.stringify(record))
}

test('a kill that its own process may still finish is left to it', async () => {
  await store(anAgent())
  await killed({ own_finish_ms: 60_000 })
  assert.equal(await sweep(), 1)
  assert.deepEqual(await eventsOf('agent_killed'), [])
})

test('a kill that a live edge has not acknowledged is published again, under its own epoch', async () => {
  await store(anAgent())
  await anEdge('silent')
  const kill = await killed()
  await sweep()
  assert.equal(Object.keys(await records()).length, 1)
  assert.equal((await published(1)).length, 1, 'not so soon')
  await age(kill, 600)
  await sweep()
  const [, again] = await published(2)
  const { revision, killed_at } = kill.record
  assert.deepEqual(again, [
    {
      what: 'kill',
      organization_id: ORG,
      agent_id: 'agt_a',
      revision,
      killed_at,
      again_of: kill.epoch,
    },
  ])
  assert.deepEqual(await eventsOf('agent_killed'), [], 'its counts are not known')
})

test('after five seconds the event reports an incomplete kill, and the kill is still published to the silent edge', async () => {
  await store(anAgent())
  await anEdge('silent')
  const kill = await killed()
  await age(kill, 6000)
  await sweep()
  const [event] = await eventsOf('agent_killed')
  assert.equal(event?.data['complete'], false)
  assert.equal((await records())[String(kill.epoch)]?.event, null, 'kept, and its event is written')
  await acknowledge(kill.epoch, 'silent')
  await sweep()
  assert.deepEqual(await records(), {})
  assert.equal((await eventsOf('agent_killed')).length, 1)
})

test('a kill does not wait for an edge whose lease has expired', async () => {
  await store(anAgent())
  await anEdge('gone', LEASE_MS + 2000)
  await killed()
  await sweep()
  assert.equal((await eventsOf('agent_killed'))[0]?.data['complete'], true)
})

test('a kill that a reactivation has undone is not published again', async () => {
  await store(anAgent())
  await anEdge('silent')
  const kill = await killed()
  await store(anAgent({ revision: kill.record.revision + 1 }))
  await age(kill, 600)
  await sweep()
  assert.equal((await published(1)).length, 1)
})

const reactivated = (
  replacement: Parameters<typeof reactivateAgent>[1]['replacement'] = null,
): Promise<Reactivated | null> =>
  reactivateAgent(
    { ...parts(), acknowledgements: new Acknowledgements(redis, () => performance.now()) },
    { organization_id: ORG, agent_id: 'agt_a', reason: 'repaired', actor: ACTOR, replacement },
  )

test('a reactivation gives back the keys that the kill has revoked, and no others', async () => {
  await store(anAgent(), [
    aKey('one'),
    aKey('two', { revoked_at: EARLIER, revoked_by: 'operator' }),
  ])
  await redis.hset(REDIS_KEYS.rateViolations(ORG, 'agt_a'), 'scp', 'x')
  const { record } = await killed()
  const done = await reactivated()
  assert.equal(done?.credentials_restored, 1)
  assert.equal(done?.agent.status, 'active')
  assert.ok(done && done.agent.revision > record.revision)
  assert.deepEqual(await revocations(), { one: null, two: 'operator' })
  assert.equal(await redis.exists(REDIS_KEYS.rateViolations(ORG, 'agt_a')), 0)
  assert.deepEqual(
    (await published(2))[1]?.map(({ what }) => what),
    ['reactivate', 'key'],
  )
  assert.deepEqual(await actions(), ['agent.kill', 'agent_reactivated', 'agent.reactivate'])
})

test('with a new key the old ones stay revoked, also at the next reactivation', async () => {
  await store(anAgent(), [aKey('one')])
  await killed()
  const target: ControlTarget = { what: 'key', hash: 'new' }
  const done = await reactivated({ writes: [['SET', 'the new key', 'x']], target, key_id: 'new' })
  assert.equal(done?.credentials_restored, 0)
  assert.equal(await redis.get('the new key'), 'x')
  assert.deepEqual(await revocations(), { one: 'operator' })
  await killed()
  await reactivated()
  assert.deepEqual(await revocations(), { one: 'operator' })
})

test('an agent that is active is not reactivated, and an unknown one is not there', async () => {
  await store(anAgent())
  assert.equal((await reactivated())?.was_killed, false)
  assert.equal(await redis.exists(REDIS_KEYS.epoch), 0)
  const target: ControlTarget = { what: 'key', hash: 'new' }
  const writes = [['SET', 'the new key', 'x']] as const
  const done = await reactivated({ writes, target, key_id: 'new' })
  assert.deepEqual([done?.was_killed, done?.credentials_restored], [false, 0])
  assert.equal(await redis.get('the new key'), 'x')
  assert.deepEqual(await actions(), ['agent.reactivate'])
  await redis.flushall()
  assert.equal(await reactivated(), null)
})

const WHO = { organization_id: ORG, agent_id: 'agt_a' }
const LOST = { revision: 9, killed_at: EARLIER, kill_reason: 'before', keys_replaced: false }
const restored = (lost = LOST) => restoreState(parts(), WHO, lost, 'edge-1')

test('a store that has lost a kill is given it back, with its time and its revision', async () => {
  await store(anAgent({ revision: 3 }), [aKey('one')])
  assert.equal(await restored(), 'restored')
  const { status, revision, killed_at, kill_reason } = await storedAgent()
  assert.deepEqual([status, revision, killed_at, kill_reason], ['killed', 9, EARLIER, 'before'])
  assert.deepEqual(await revocations(), { one: 'kill' })
  assert.deepEqual(await actions(), ['agent.kill_restored'])
  assert.equal((await published(1)).length, 1)
  assert.equal(await restored(), 'not_lost', 'another edge has been first')
})

test('a store that knows more than the edge is left as it is', async () => {
  await store(anAgent({ revision: 10 }))
  assert.equal(await restored(), 'not_lost')
  assert.equal((await storedAgent()).status, 'active')
  await redis.flushall()
  assert.equal(await restored(), 'absent')
})

test('a lost reactivation is given back with the keys that it gave back', async () => {
  await store(anAgent({ status: 'killed', revision: 3, killed_at: EARLIER }), [
    aKey('one', { revoked_at: EARLIER, revoked_by: 'kill' }),
  ])
  assert.equal(await restored({ ...LOST, killed_at: null as never }), 'restored')
  assert.equal((await storedAgent()).status, 'active')
  assert.deepEqual(await revocations(), { one: null })
})

test('an agent that is missing in the store is reported once the organization exists', async () => {
  const told = () => tellLostAgent(parts(), WHO, EARLIER, 'edge-1')
  assert.equal(await told(), 'no_organization')
  await redis.hset(REDIS_KEYS.organizations, ORG, '{}')
  assert.equal(await told(), 'told')
  assert.deepEqual(await actions(), ['agent.kill_lost'])
  await redis.hset(REDIS_KEYS.agentTombstones(ORG), 'agt_a', '1')
  assert.equal(await told(), 'not_lost', 'it was deleted')
  await redis.del(REDIS_KEYS.agentTombstones(ORG))
  await store(anAgent())
  assert.equal(await told(), 'not_lost')
  assert.equal((await actions()).length, 1)
})

test('one process sends the beacon, with the epoch of the store; another takes over when it is silent', async () => {
  const beacon = (name: string): Promise<unknown> =>
    runScript(
      redis,
      'beacon',
      [REDIS_KEYS.beaconLeader, REDIS_KEYS.epoch, REDIS_KEYS.edgeBeats, REDIS_KEYS.beatClock],
      [name, 60_000, CHANNELS.control],
    )
  const heard: string[] = []
  const hear = (_channel: string, text: string): void => void heard.push(text)
  subscription.on('message', hear)
  await redis.set(REDIS_KEYS.epoch, '41')
  assert.equal(await beacon('a'), 0)
  const left_ms = Number(await beacon('b'))
  assert.ok(left_ms > 0 && left_ms <= 60_000, String(left_ms))
  assert.equal(await beacon('a'), 0)
  // As when its time is over.
  await redis.del(REDIS_KEYS.beaconLeader)
  await redis.incr(REDIS_KEYS.epoch)
  assert.equal(await beacon('b'), 0)
  assert.notEqual(await beacon('a'), 0)
  await until('the beacons', () => heard.length >= 3)
  subscription.off('message', hear)
  assert.deepEqual(
    heard.map((text) => JSON.parse(text)),
    [
      { kind: 'beacon', version: 1, epoch: 41, sender: 'a' },
      { kind: 'beacon', version: 1, epoch: 41, sender: 'a' },
      { kind: 'beacon', version: 1, epoch: 42, sender: 'b' },
    ],
  )
})

test('a beat says that an edge is there, finds the epoch, and forgets edges that were silent for long', async () => {
  const beat = async (edge_id: string, record: string): Promise<string> => {
    const [epoch, store_ms] = (await runScript(
      redis,
      'beat',
      [
        REDIS_KEYS.edges,
        REDIS_KEYS.edgeBeats,
        REDIS_KEYS.beatClock,
        REDIS_KEYS.epoch,
        REDIS_KEYS.lostEdges,
      ],
      [edge_id, record, 60_000],
    )) as [string, string]
    const [seconds, micros] = (await redis.time()).map(Number)
    assert.ok(Number(store_ms) <= (seconds ?? 0) * 1000 + (micros ?? 0) / 1000 + 1, store_ms)
    return epoch
  }
  assert.equal(await beat('a', '{}'), '0')
  await redis.set(REDIS_KEYS.epoch, '41')
  await redis.hset(REDIS_KEYS.edges, 'long ago', '{}', 'late', '{}')
  await anEdge('long ago', 62_000)
  await anEdge('late', 50_000)
  assert.equal(await beat('b', '{}'), '41')
  assert.deepEqual(Object.keys(await redis.hgetall(REDIS_KEYS.edges)).sort(), ['a', 'b', 'late'])
  await beat('a', '')
  assert.deepEqual((await redis.zrange(REDIS_KEYS.edgeBeats, '0', '-1')).sort(), ['b', 'late'])
  assert.equal(await redis.hexists(REDIS_KEYS.edges, 'a'), 0)
})

const receipts = async (): Promise<readonly StoredReceipt[]> => {
  const ids = await redis.zrange(REDIS_KEYS.killReceiptIndex(ORG), '0', '-1')
  const texts = await Promise.all(ids.map((id) => redis.hget(REDIS_KEYS.killReceipts(ORG), id)))
  assert.equal(await redis.hlen(REDIS_KEYS.killReceipts(ORG)), ids.length)
  return texts.map((text) => JSON.parse(text ?? 'null') as StoredReceipt)
}

test('a kill has a receipt from its first moment, and a repeated kill one of its own', async () => {
  await store(anAgent({ agent_name: 'bot' }), [aKey('one')])
  const first = await killed()
  const second = await killed({ reason: 'once more' })
  const [one, two, ...others] = await receipts()
  assert.deepEqual(others, [])
  const { record } = first
  assert.deepEqual(one, record.receipt)
  assert.equal(one?.agent_name, 'bot')
  assert.equal(one.reason, 'it misbehaves')
  assert.equal(one.triggered_by, 'ops@example.com')
  assert.equal(one.credentials_revoked, 1)
  assert.equal(one.repeated, false)
  assert.equal(one.counted_at, null, 'no edge has answered')
  assert.equal(one.complete, false)
  assert.deepEqual(two, second.record.receipt)
  assert.equal(two?.repeated, true)
  assert.equal(two.reason, 'once more')
  assert.equal(two.killed_at, one.killed_at)
  assert.notEqual(two.kill_id, one.kill_id)
})

test('a kill of an unknown agent leaves no receipt', async () => {
  assert.equal(await publishKill(parts(), ORDER), null)
  assert.deepEqual(await receipts(), [])
})

test('the receipt of a kill whose process has died is completed by the sweeper, with a row per edge', async () => {
  await store(anAgent())
  await anEdge('a')
  await anEdge('b')
  const kill = await killed()
  await acknowledge(kill.epoch, 'a', 2)
  await acknowledge(kill.epoch, 'b', 3)
  await sweep()
  const [receipt] = await receipts()
  assert.equal(receipt?.complete, true)
  assert.equal(receipt.in_flight_requests_terminated, 5)
  assert.ok(receipt.counted_at)
  assert.deepEqual(
    Object.fromEntries(receipt.edges.map(({ edge_id, terminated }) => [edge_id, terminated])),
    { a: 2, b: 3 },
  )
  for (const { acknowledged_ms } of receipt.edges)
    assert.ok(acknowledged_ms !== null && acknowledged_ms <= receipt.propagation_ms)
  assert.equal(await sweep(), 0)
  const [event, ...others] = await eventsOf('agent_killed')
  assert.deepEqual(others, [])
  const { kill_id, requests_terminated, complete } = event?.data ?? {}
  assert.deepEqual([kill_id, requests_terminated, complete], [receipt.kill_id, 5, true])
})

test('a key that a newer version has stored keeps no kill from being completed, and is named', async () => {
  const { organization_id, agent_id } = anAgent()
  await store(anAgent())
  await anEdge('a')
  const kill = await killed()
  await acknowledge(kill.epoch, 'a', 2)
  await redis.hset(REDIS_KEYS.agentOrganizationKeys(organization_id, agent_id), 'key_n', Date.now())
  const record = JSON.stringify({ store_format: STORE_FORMAT + 1 })
  await redis.hset(REDIS_KEYS.apiKeys(organization_id), 'key_n', record)
  await sweep()
  const [receipt] = await receipts()
  assert.equal(receipt?.complete, true)
  assert.deepEqual(receipt.still_usable_keys, ['key_n'])
})

/** As a version would store it whose records this one cannot read. */
const newerText = (members: object): string =>
  JSON.stringify({
    ...anAgent({ revision: 4 }),
    agent_name: { sealed: 'x' },
    owners: ['o'],
    store_format: STORE_FORMAT + 1,
    ...members,
  })

for (const [how, members, revision_before] of [
  ['with the members of today', {}, 4],
  ['with a status that this version does not know', { status: 'paused' }, 4],
  ['without a state', { status: undefined, revision: undefined, killed_at: undefined }, 0],
] as const)
  test(`an agent that a newer version has stored ${how} is killed, and the rest of its record stays`, async () => {
    const text = newerText(members)
    await redis.hset(REDIS_KEYS.agents(ORG), 'agt_a', text)
    await store(anAgent({ agent_id: 'agt_other' }), [aKey('one')])
    const { record, credentials_revoked } = await killed()
    const { revision, killed_at } = record
    assert.ok(revision > revision_before)
    assert.deepEqual(await storedAgent(), {
      ...(JSON.parse(text) as object),
      status: 'killed',
      revision,
      killed_at: NOW.toISOString(),
      kill_reason: 'it misbehaves',
    })
    assert.equal(credentials_revoked, 1)
    assert.deepEqual(await published(1), [
      [
        { what: 'kill', organization_id: ORG, agent_id: 'agt_a', revision, killed_at },
        { what: 'key', hash: 'hash of one' },
      ],
    ])
    const [receipt] = await receipts()
    assert.equal(receipt?.agent_name, 'agt_a', 'its name may not be readable')
    const again = await killed()
    assert.deepEqual([again.record.event, again.record.revision], [null, revision])
  })

test('the kill of an agent that a newer version has stored is published again for a silent edge, and completed', async () => {
  await redis.hset(REDIS_KEYS.agents(ORG), 'agt_a', newerText({}))
  await anEdge('silent')
  const kill = await killed()
  await age(kill, 1000)
  await sweep()
  const [, again] = await published(2)
  const { revision, killed_at } = kill.record
  const target = { organization_id: ORG, agent_id: 'agt_a', revision, killed_at }
  assert.deepEqual(again, [{ what: 'kill', ...target, again_of: kill.epoch }])
  await acknowledge(kill.epoch, 'silent', 1)
  await sweep()
  assert.equal((await receipts())[0]?.complete, true)
})

test('an agent that a newer version has stored stays killed until a process of that version reactivates it', async () => {
  await redis.hset(REDIS_KEYS.agents(ORG), 'agt_a', newerText({}))
  await killed()
  await assert.rejects(reactivated(), NewerFormatError)
  assert.equal((await storedAgent()).status, 'killed')
})

test('a lost kill of an agent that a newer version has stored is restored; a lost reactivation is not', async () => {
  const text = newerText({})
  await redis.hset(REDIS_KEYS.agents(ORG), 'agt_a', text)
  const who = { organization_id: ORG, agent_id: 'agt_a' }
  const lost = { revision: 9, killed_at: EARLIER, kill_reason: 'lost', keys_replaced: false }
  const reactivation = { ...lost, killed_at: null, kill_reason: null }
  await assert.rejects(restoreState(parts(), who, reactivation, 'edge'), NewerFormatError)
  assert.equal(await redis.hget(REDIS_KEYS.agents(ORG), 'agt_a'), text)
  assert.equal(await restoreState(parts(), who, lost, 'edge'), 'restored')
  assert.deepEqual(await storedAgent(), {
    ...(JSON.parse(text) as object),
    status: 'killed',
    revision: 9,
    killed_at: EARLIER,
    kill_reason: 'lost',
  })
})

test('an edge that acknowledges late is added to the receipt, and until then it is listed first', async () => {
  await store(anAgent())
  await anEdge('prompt')
  await anEdge('silent')
  const kill = await killed()
  await acknowledge(kill.epoch, 'prompt', 1)
  await age(kill, 6000)
  await sweep()
  const rows = async () =>
    (await receipts())[0]?.edges.map(({ edge_id, acknowledged_ms }) => [
      edge_id,
      acknowledged_ms !== null,
    ])
  assert.deepEqual(await rows(), [
    ['silent', false],
    ['prompt', true],
  ])
  assert.equal((await receipts())[0]?.complete, false)
  await acknowledge(kill.epoch, 'silent', 4)
  await sweep()
  const [receipt] = await receipts()
  assert.equal(receipt?.complete, true)
  assert.equal(receipt.in_flight_requests_terminated, 5)
  assert.equal(receipt.edges.length, 2)
  for (const { acknowledged_ms } of receipt.edges) assert.notEqual(acknowledged_ms, null)
})

test('an edge that never acknowledges stays in the receipt after its lease', async () => {
  await store(anAgent())
  await anEdge('lost')
  const kill = await killed()
  await age(kill, 6000)
  await sweep()
  await anEdge('lost', LEASE_MS + 2000)
  await sweep()
  const [receipt] = await receipts()
  assert.deepEqual(receipt?.edges, [
    { edge_id: 'lost', region: '', acknowledged_ms: null, terminated: 0, unconfirmed: 0 },
  ])
  assert.deepEqual(await records(), {})
})

test('a receipt is completed when the last call has ended, and the event waits for that', async () => {
  await store(anAgent())
  await anEdge('busy')
  const kill = await killed()
  await acknowledge(kill.epoch, 'busy', 527, 'always', 673)
  assert.equal(await sweep(), 1)
  assert.deepEqual(await eventsOf('agent_killed'), [])
  const [early] = await receipts()
  assert.deepEqual([early?.complete, early?.in_flight_requests_terminated], [false, 527])
  await acknowledge(kill.epoch, 'busy', 1200)
  assert.equal(await sweep(), 0)
  const [late] = await receipts()
  assert.deepEqual([late?.complete, late?.in_flight_requests_terminated], [true, 1200])
  const [event, ...others] = await eventsOf('agent_killed')
  assert.deepEqual(others, [])
  assert.deepEqual([event?.data['complete'], event?.data['requests_terminated']], [true, 1200])
  assert.deepEqual(await records(), {})
})

test('a receipt is completed long after the event has said that it is not complete', async () => {
  await store(anAgent())
  await anEdge('slow')
  const kill = await killed()
  await acknowledge(kill.epoch, 'slow', 1, 'always', 2)
  await age(kill, 6000)
  await sweep()
  const [event] = await eventsOf('agent_killed')
  assert.equal(event?.data['complete'], false)
  assert.equal(await sweep(), 0, 'the acknowledgement will wake it')
  assert.equal(Object.keys(await records()).length, 1)
  await acknowledge(kill.epoch, 'slow', 3)
  await sweep()
  assert.equal((await receipts())[0]?.complete, true)
  assert.equal((await eventsOf('agent_killed')).length, 1)
  assert.deepEqual(await records(), {})
})

test('a kill is not complete if the edge dies that was still ending calls', async () => {
  await store(anAgent())
  await anEdge('dies')
  const kill = await killed()
  await acknowledge(kill.epoch, 'dies', 1, 'always', 2)
  await redis.del(REDIS_KEYS.edgeBeats)
  await sweep()
  assert.equal((await receipts())[0]?.complete, false)
  assert.equal((await eventsOf('agent_killed'))[0]?.data['complete'], false)
  assert.deepEqual(await records(), {})
})

test('an acknowledgement of a kill that was published again replaces only one that was still ending calls', async () => {
  const stored = async (): Promise<unknown> =>
    JSON.parse((await redis.hget(REDIS_KEYS.acknowledgements(7), 'edge')) ?? '{}').terminated
  await acknowledge(7, 'edge', 5, 'always', 3)
  await acknowledge(7, 'edge', 0, 'if absent', 3)
  assert.equal(await stored(), 5)
  await acknowledge(7, 'edge', 8, 'if absent')
  assert.equal(await stored(), 8)
  await acknowledge(7, 'edge', 0, 'if absent')
  assert.equal(await stored(), 8)
})

const TOKEN = {
  token_id: 'tok_ops',
  organization_id: ORG,
  email: 'ops@example.com',
  role: 'operator',
  expires_at: null as string | null,
}
const unsigned = (proof: CallerProof, uses: string[] = []) =>
  publishKill(parts(), {
    agent_id: 'agt_a',
    reason: null,
    kill_method: 'api',
    notify: [],
    own_finish_ms: 0,
    proof,
    roles: ['operator', 'admin'],
    actor: { source_ip: '192.0.2.1', request_id: 'req_1', edge_id: null },
    noteUse: (...use) => uses.push(use.join(' ')),
  })
async function storeToken(change: object = {}): Promise<CallerProof> {
  const hash = 'a'.repeat(64)
  await redis.hset(REDIS_KEYS.adminTokenHashes, hash, `${ORG} tok_ops`)
  await redis.hset(REDIS_KEYS.adminTokens(ORG), 'tok_ops', JSON.stringify({ ...TOKEN, ...change }))
  return { token_hash: hash }
}

test('the script of a kill also finds out whose token requests it', async () => {
  await store(anAgent(), [aKey('one')])
  const proof = await storeToken({ expires_at: '2026-06-01T00:00:00.001Z' })
  const uses: string[] = []
  const kill = await unsigned(proof, uses)
  assert.ok(kill !== null && kill !== 'not_signed_in')
  assert.deepEqual(uses, [`${ORG} tok_ops`])
  assert.equal(kill.record.organization_id, ORG)
  assert.equal(kill.record.event?.triggered_by, 'ops@example.com')
  const [audit] = await entries()
  assert.equal(audit?.organization_id, ORG)
  assert.deepEqual(
    [audit.data['actor'], audit.data['actor_token_id'], audit.source_ip],
    ['ops@example.com', 'tok_ops', '192.0.2.1'],
  )
  assert.deepEqual(audit.data['before'], { status: 'active' })
})

test('a kill without a token that is in force, of a role that may kill, writes nothing', async () => {
  await store(anAgent())
  const before = async (): Promise<unknown> => [await redis.keys('*'), (await storedAgent()).status]
  const session = (page_hash: string): CallerProof => ({
    session: REDIS_KEYS.session('s'),
    page_hash,
    idle_ms: 1000,
  })
  for (const [change, proofOf] of [
    [{}, () => ({ token_hash: 'b'.repeat(64) })],
    [{ role: 'viewer' }],
    [{ role: '__index' }],
    [{ expires_at: NOW.toISOString() }],
    [{ expires_at: 'never' }],
    [{ store_format: STORE_FORMAT + 1 }],
    [{}, () => session('of another page')],
    [{}, () => ({ ...session('p'), session: REDIS_KEYS.session('over') })],
  ] as const satisfies readonly (readonly [object, (() => CallerProof)?])[]) {
    const proof = await storeToken(change)
    const ends_ms = NOW.getTime() + 60_000
    const named = { organization_id: ORG, token_id: 'tok_ops', page_hash: 'p' }
    await redis.hset(REDIS_KEYS.session('s'), { ...named, ends_ms })
    await redis.hset(REDIS_KEYS.session('over'), { ...named, ends_ms: NOW.getTime() })
    const state = await before()
    assert.equal(await unsigned(proofOf?.() ?? proof), 'not_signed_in', JSON.stringify(change))
    assert.deepEqual(await before(), state)
  }
  await storeToken()
  const kill = await unsigned(session('p'))
  assert.ok(kill !== null && kill !== 'not_signed_in')
  const left_ms = await redis.pttl(REDIS_KEYS.session('s'))
  assert.ok(left_ms > 0 && left_ms <= 1000, 'the session lives on')
})

test('what a kill does not change in stored records stays as it was, byte by byte', async () => {
  const odd = { empty: [], none: {}, big: 9007199254740991, tiny: 1e-7, '"status":"active"': null }
  await store(anAgent({ metadata: odd as never, agent_name: 'a "b" @agent_name \\ ü \u2028' }), [
    aKey('one', { agent_ids: [] }),
  ])
  const before = [
    await storedAgent(),
    JSON.parse((await redis.hget(REDIS_KEYS.apiKeys(ORG), 'one')) ?? ''),
  ]
  const { record } = await killed({ reason: '"agent_name" %1 \u0000' })
  const { status, revision, killed_at, kill_reason, store_format, ...agent } =
    (await storedAgent()) as any
  assert.deepEqual(
    [status, killed_at, kill_reason],
    ['killed', NOW.toISOString(), '"agent_name" %1 \u0000'],
  )
  assert.deepEqual(
    { ...agent, status: 'active', revision: 0, killed_at: null, kill_reason: null },
    { ...before[0], status: 'active', revision: 0, killed_at: null, kill_reason: null },
  )
  assert.equal(store_format, STORE_FORMAT)
  assert.equal(record.revision, revision)
  assert.equal(record.event?.agent_name, before[0].agent_name)
  const key = JSON.parse((await redis.hget(REDIS_KEYS.apiKeys(ORG), 'one')) ?? '')
  assert.deepEqual(
    { ...key, revoked_at: null, revoked_by: null },
    { ...before[1], store_format: STORE_FORMAT },
  )
  await reactivated()
  const text = (await redis.hget(REDIS_KEYS.agents(ORG), 'agt_a')) ?? ''
  assert.equal(text.split('"status":"').length, 2, 'each member once again')
})

test('the newest 1,000 receipts are kept', async () => {
  await store(anAgent())
  const old = Array.from({ length: RECEIPTS_MAX + 5 }, (_, i) => `kil_${i}`)
  const index = REDIS_KEYS.killReceiptIndex(ORG)
  await redis.zadd(index, ...old.flatMap((id, i) => [String(i), id]))
  await redis.hset(REDIS_KEYS.killReceipts(ORG), ...old.flatMap((id) => [id, '{}']))
  const kill = await killed()
  await sweep()
  const ids = await redis.zrange(index, '0', '-1')
  assert.equal(ids.length, RECEIPTS_MAX)
  assert.equal(ids[0], 'kil_6')
  assert.equal(ids.at(-1), kill.record.receipt?.kill_id)
  assert.equal((await receipts()).length, RECEIPTS_MAX)
})

test('a receipt that was removed with its organization is not written again', async () => {
  await store(anAgent())
  await killed()
  await redis.del(REDIS_KEYS.killReceipts(ORG), REDIS_KEYS.killReceiptIndex(ORG))
  await sweep()
  assert.equal((await eventsOf('agent_killed')).length, 1)
  assert.equal(await redis.exists(REDIS_KEYS.killReceipts(ORG)), 0)
})

test('a kill in progress that version 0.2 has written is completed without a receipt', async () => {
  await store(anAgent())
  const kill = await killed()
  const { receipt: _, ...record } = kill.record
  await redis.hset(REDIS_KEYS.kills, String(kill.epoch), JSON.stringify(record))
  await sweep()
  const [event] = await eventsOf('agent_killed')
  assert.equal(event?.data['kill_id'], undefined)
  assert.deepEqual(await records(), {})
})

test('a receipt keeps at most 200 edges, those that did not acknowledge among them', async () => {
  const rows = Array.from({ length: RECEIPT_ROWS_MAX + 50 }, (_, i) => ({
    edge_id: `edge-${i}`,
    region: 'r',
    acknowledged_ms: i % 50 === 49 ? null : i / 10,
    terminated: 1,
    unconfirmed: 0,
  }))
  const receipt = withCounts(aReceipt, COUNTS, rows, {
    counted_at: EARLIER,
    still_usable_keys: rows.map(({ edge_id }) => edge_id),
  })
  assert.equal(receipt.edges.length, RECEIPT_ROWS_MAX)
  assert.equal(receipt.still_usable_keys.length, RECEIPT_ROWS_MAX)
  const silent = receipt.edges.slice(0, 5).map(({ acknowledged_ms }) => acknowledged_ms)
  assert.deepEqual(silent, [null, null, null, null, null])
  assert.equal(receipt.propagation_ms, 25)
})

const aReceipt: StoredReceipt = {
  kill_id: 'kil_1',
  agent_id: 'agt_a',
  agent_name: 'a',
  requested_at: EARLIER,
  killed_at: EARLIER,
  repeated: false,
  reason: null,
  triggered_by: 'system',
  kill_method: 'auto_injection',
  credentials_revoked: 0,
  counted_at: null,
  complete: false,
  in_flight_requests_terminated: 0,
  propagation_ms: 0,
  edges: [],
  still_usable_keys: [],
  last_request: null,
  requests_last_hour: 0,
}
