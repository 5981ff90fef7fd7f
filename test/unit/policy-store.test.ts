import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import type { ControlTarget } from '../../core/control/control-message.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { sealAuth } from '../../core/store/credential-binding.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { RestrictionBoard, type AgentKillState } from '../../ext-proc/kill/restriction-board.ts'
import { type AgentPolicy, PolicyStore } from '../../ext-proc/policy/policy-store.ts'
import { StepTurns, TurnsFullError } from '../../ext-proc/policy/step-turns.ts'
import { FakePolicyRedis } from '../kit/fake-policy-redis.ts'
import { aScope, anAgent, anIntegration } from './policy-kit.ts'

const ORG = 'org_default'
const KILLED_AT = '2026-01-02T00:00:00.000Z'
const keyRing = parseKeyRing(randomBytes(32).toString('base64'))
const aKey = (change: Partial<ApiKey> = {}): ApiKey => ({
  key_id: 'key_a',
  organization_id: ORG,
  agent_id: 'agt_a',
  hash: 'h',
  last4: 'aaaa',
  name: 'a',
  agent_ids: null,
  uses: ['proxy'],
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  revoked_at: null,
  revoked_by: null,
  ...change,
})
const killed = (revision: number) =>
  anAgent({ status: 'killed', revision, killed_at: KILLED_AT, kill_reason: 'x' })

/** Each step is in a turn of its own. */
function oneByOne(): StepTurns {
  let now_ms = 0
  return new StepTurns(() => ++now_ms)
}

function aStore(turns = new StepTurns()) {
  const redis = new FakePolicyRedis()
  const lost: AgentKillState[] = []
  const killBoard = new RestrictionBoard((state) => lost.push(state))
  const store = new PolicyStore({ redis: redis.client, keyRing, killBoard, turns })
  redis.agents.set('agt_a', anAgent())
  redis.scopes.set('agt_a', [aScope({ name: 'read' })])
  redis.keys.set('h', aKey())
  redis.integrations = [anIntegration('https://x/v1', { integration_id: 'int_a' })]
  const readAll = async () => ({
    key: (await store.key('h')).key,
    agent: await store.agent(ORG, 'agt_a'),
    organization: await store.organization(ORG),
  })
  return { redis, store, killBoard, lost, readAll }
}

test('a text that cannot be the id of an agent is neither looked up nor cached', async () => {
  const { redis, store } = aStore()
  for (const agent_id of ['x'.repeat(1_000_000), 'agt a', '', 'agt_a\n', '-', 'agt_ä']) {
    const found = store.agent(ORG, agent_id)
    assert.ok(!(found instanceof Promise))
    assert.equal(found.agent, null)
  }
  assert.deepEqual(redis.reads, [])
  assert.equal((await store.agent(ORG, 'agt_a')).agent?.agent_id, 'agt_a')
})

test('an agent whose scopes are larger than an edge can hold has none', async () => {
  const { redis, store } = aStore()
  const restriction = aScope({ name: 'restriction' })
  const large = (segments: number) =>
    aScope({
      name: 'large',
      rules: [
        {
          methods: ['GET'],
          paths: Array.from({ length: segments / 100 }, (_, i) => `/${i}${'/x'.repeat(99)}`),
        },
      ],
    })
  redis.scopes.set('agt_a', [large(100_100), restriction])
  const held = await store.agent(ORG, 'agt_a')
  assert.deepEqual(held.scopes.names, [])
  redis.scopes.set('agt_a', [large(1_000), restriction])
  store.drop({ what: 'agent', organization_id: ORG, agent_id: 'agt_a' })
  const read = await store.agent(ORG, 'agt_a')
  assert.deepEqual(read.scopes.names, ['large', 'restriction'])
  assert.ok(read.bytes > 100_000 && read.bytes < 1_000_000, String(read.bytes))
})

test('what was read once is not read again', async () => {
  const { redis, readAll } = aStore()
  const { key, agent, organization } = await readAll()
  assert.equal(key?.key_id, 'key_a')
  assert.deepEqual(agent.scopes.names, ['read'])
  assert.deepEqual([...organization.auth.keys()], ['int_a'])
  await readAll()
  assert.deepEqual(redis.reads, ['key h', 'agent agt_a', 'integrations'])
})

test('what a newer version has stored in a format that this one would misread is refused, and nothing else', async () => {
  const { redis, store, readAll } = aStore()
  const newer = { store_format: STORE_FORMAT + 1 }
  redis.integrations = [
    anIntegration('https://x/v1', { integration_id: 'int_a', ...newer } as object),
    anIntegration('https://x/v2', {
      integration_id: 'int_b',
      store_format: STORE_FORMAT,
    } as object),
  ]
  const { organization } = await readAll()
  assert.equal(organization.auth.get('int_a'), null, 'as without a credential')
  assert.notEqual(organization.auth.get('int_b'), null)
  redis.agents.set('agt_a', { ...anAgent(), ...newer } as never)
  redis.keys.set('h', { ...aKey(), ...newer } as never)
  store.clear()
  await assert.rejects(async () => store.agent(ORG, 'agt_a'), /newer version/)
  await assert.rejects(async () => store.key('h'), /newer version/)
  redis.agents.set('agt_a', anAgent())
  redis.scopes.set('agt_a', [aScope({ name: 'read', ...newer } as object)])
  await assert.rejects(async () => store.agent(ORG, 'agt_a'), /newer version/)
})

test('many integrations are read in steps, between which the event loop does other work', async () => {
  const { redis, store } = aStore()
  const turnsOf = async (bases: readonly string[], auth: object = { type: 'none' }) => {
    redis.integrations = bases.map((base) => anIntegration(base, { auth } as object))
    store.clear()
    let isRead = false
    const reading = Promise.resolve(store.organization(ORG)).then(() => {
      isRead = true
    })
    let turns = 0
    for (; !isRead; turns++) await turn()
    await reading
    return turns
  }
  const bases = (count: number, path: string) =>
    Array.from({ length: count }, (_, i) => `https://x/${i}${path}`)
  assert.ok((await turnsOf(bases(10, ''))) < 5)
  assert.ok((await turnsOf(bases(1_000, ''))) > 40, 'small ones')
  assert.ok((await turnsOf(bases(100, '/a'.repeat(500)))) > 100, 'long base URLs')
  const token = sealAuth(keyRing, {
    ...anIntegration('https://x/0', {}),
    auth: { type: 'bearer', token: 't'.repeat(8_000) },
  })
  assert.ok((await turnsOf(bases(100, ''), token)) > 10, 'long credentials')
})

test('an agent is compiled in its turn, however many large agents of another organization wait', async () => {
  const { redis, store } = aStore(oneByOne())
  const scopes = Array.from({ length: 20 }, (_, i) => aScope({ name: `scope ${i}` }))
  const ended: string[] = []
  const read = async (organization_id: string, agent_id: string): Promise<void> => {
    redis.scopes.set(agent_id, scopes)
    await store.agent(organization_id, agent_id)
    ended.push(agent_id)
  }
  const large = Array.from({ length: 60 }, (_, i) => read('org_b', `agt_${i}`))
  await Promise.all([...large, read(ORG, 'agt_a')])
  assert.equal(ended.indexOf('agt_a'), 1, 'the first of the others began before it')
  assert.equal(ended.length, 61)
})

test('an agent that changes while it is compiled is not compiled to the end', async () => {
  const { redis, store } = aStore(oneByOne())
  const paths = Array.from({ length: 90 }, (_, i) => `/${i}${'/x'.repeat(511)}`)
  redis.scopes.set('agt_a', [aScope({ name: 'large', rules: [{ methods: ['GET'], paths }] })])
  const reads: Promise<AgentPolicy>[] = []
  for (let i = 0; i < 20; i++) {
    store.drop({ what: 'agent', organization_id: ORG, agent_id: 'agt_a' })
    reads.push(Promise.resolve(store.agent(ORG, 'agt_a')))
    for (let j = 0; j < 5; j++) await turn()
  }
  let isRead = false
  const reading = Promise.all(reads).then((all) => {
    isRead = true
    return all
  })
  let turns = 0
  for (; !isRead; turns++) await turn()
  assert.ok(turns > 150 && turns < 300, `${turns} turns, where one compilation has some 180`)
  for (const { scopes } of await reading) assert.deepEqual(scopes.names, ['large'])
})

test('agents are refused, and not kept as such, while too much of their organization waits to be compiled', async () => {
  const { redis, store, killBoard } = aStore()
  const ids = Array.from({ length: 12 }, (_, i) => `agt_${i}`)
  for (const agent_id of ids) {
    redis.agents.set(agent_id, anAgent({ agent_id }))
    redis.scopes.set(agent_id, [aScope({ scope_id: 'scp_x', name: 'x'.repeat(3_900_000) })])
  }
  redis.agents.set('agt_11', { ...killed(5), agent_id: 'agt_11' })
  const reads = ids.map(async (agent_id) => store.agent(ORG, agent_id))
  const other = store.agent('org_b', 'agt_a')
  const outcomes = await Promise.allSettled(reads)
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  assert.equal(refused.length, 4)
  assert.ok(refused.every((error) => error instanceof TurnsFullError))
  assert.deepEqual((await other).scopes.names, ['read'])
  assert.equal(killBoard.killedAt(ORG, 'agt_11'), KILLED_AT, 'known before its scopes are')
  const { agent, scopes } = await store.agent(ORG, 'agt_11')
  assert.equal(agent?.status, 'killed')
  assert.equal(scopes.names.length, 1)
})

/** What a message drops, so that it is read again. */
const DROPS: readonly (readonly [target: ControlTarget, read: readonly string[]])[] = [
  [{ what: 'key', hash: 'h' }, ['key h']],
  [{ what: 'key', hash: 'another' }, []],
  [{ what: 'integrations', organization_id: ORG }, ['integrations']],
  [{ what: 'integrations', organization_id: 'org_b' }, []],
  [{ what: 'agent', organization_id: ORG, agent_id: 'agt_a' }, ['agent agt_a']],
  [{ what: 'agent', organization_id: ORG, agent_id: 'agt_b' }, []],
  [{ what: 'agent', organization_id: 'org_b', agent_id: 'agt_a' }, []],
  [
    { what: 'kill', organization_id: ORG, agent_id: 'agt_a', revision: 1, killed_at: KILLED_AT },
    ['agent agt_a'],
  ],
  [{ what: 'reactivate', organization_id: ORG, agent_id: 'agt_a', revision: 2 }, ['agent agt_a']],
  [{ what: 'organization', organization_id: ORG }, ['key h', 'agent agt_a', 'integrations']],
]

for (const [target, read] of DROPS)
  test(`a message about ${JSON.stringify(target)} drops ${read.join(', ') || 'nothing'}`, async () => {
    const { redis, store, readAll } = aStore()
    await readAll()
    redis.reads.length = 0
    store.drop(target)
    await readAll()
    assert.deepEqual(redis.reads, read)
  })

test('an unknown key, agent or organization is kept as such, until a message says that it is there', async () => {
  const { redis, store } = aStore()
  assert.equal((await store.key('new')).key, null)
  assert.equal((await store.agent(ORG, 'agt_new')).agent, null)
  await store.key('new')
  await store.agent(ORG, 'agt_new')
  assert.deepEqual(redis.reads, ['key new', 'agent agt_new'])
  redis.keys.set('new', aKey({ hash: 'new' }))
  redis.agents.set('agt_new', anAgent({ agent_id: 'agt_new' }))
  store.drop({ what: 'key', hash: 'new' })
  store.drop({ what: 'agent', organization_id: ORG, agent_id: 'agt_new' })
  assert.equal((await store.key('new')).key?.key_id, 'key_a')
  assert.equal((await store.agent(ORG, 'agt_new')).agent?.agent_id, 'agt_new')
})

test('a store that is unavailable refuses, and what was cached before stays', async () => {
  const { redis, store, readAll } = aStore()
  await readAll()
  redis.isUp = false
  assert.equal((await store.key('h')).key?.key_id, 'key_a')
  await assert.rejects(async () => store.key('another'))
  await assert.rejects(async () => store.agent(ORG, 'agt_b'))
  await assert.rejects(async () => store.organization('org_b'))
  redis.isUp = true
  assert.equal((await store.agent(ORG, 'agt_b')).agent, null)
})

test('a read of an agent tells the kill flags, and one that a kill has overtaken lifts nothing', async () => {
  const { redis, store, killBoard } = aStore()
  redis.hold()
  const reading = store.agent(ORG, 'agt_a')
  await turn()
  killBoard.receive(ORG, 'agt_a', { revision: 5, killed_at: KILLED_AT })
  redis.agents.set('agt_a', killed(5))
  redis.release()
  assert.equal((await reading).agent?.status, 'active', 'no message has dropped it')
  assert.equal(killBoard.killedAt(ORG, 'agt_a'), KILLED_AT)
  store.drop({ what: 'kill', organization_id: ORG, agent_id: 'agt_a', revision: 5, killed_at: '' })
  assert.equal((await store.agent(ORG, 'agt_a')).agent?.status, 'killed')
  assert.equal(killBoard.known(ORG, 'agt_a')?.is_confirmed, true)
})

test('an agent that the store no longer has does not lift its kill', async () => {
  const { redis, store, killBoard, lost } = aStore()
  redis.agents.set('agt_a', killed(5))
  await store.agent(ORG, 'agt_a')
  redis.agents.delete('agt_a')
  store.clear()
  assert.equal((await store.agent(ORG, 'agt_a')).agent, null)
  assert.equal(killBoard.killedAt(ORG, 'agt_a'), KILLED_AT)
  assert.equal(lost.length, 1)
})

test('a credential that does not open is null, and the others open', async () => {
  const { redis, store } = aStore()
  const integration = (id: string) => anIntegration(`https://${id}/v1`, { integration_id: id })
  const sealed = (id: string) => ({
    ...integration(id),
    auth: sealAuth(keyRing, { ...integration(id), auth: { type: 'bearer', token: `of ${id}` } }),
  })
  const moved = { ...integration('int_c'), auth: sealed('int_b').auth }
  redis.integrations = [sealed('int_b'), moved, integration('int_d')]
  const { auth } = await store.organization(ORG)
  const opened = auth.get('int_b')
  assert.ok(opened?.type === 'bearer')
  assert.equal(opened.token.reveal(), 'of int_b')
  assert.equal(auth.get('int_c'), null)
  assert.equal(auth.get('int_d')?.type, 'none')
})

test('a key and its agent from two sides of a reactivation are both read again', async () => {
  const { redis, store } = aStore()
  const revoked = aKey({ revoked_at: KILLED_AT, revoked_by: 'kill' })
  redis.keys.set('h', revoked)
  const { key } = await store.key('h')
  assert.ok(key)
  redis.keys.set('h', aKey())
  redis.agents.set('agt_a', anAgent({ revision: 6 }))
  assert.equal((await store.revokedByKill(key, 'agt_a')).revoked_at, null)
})

test('a key revoked by a kill stays revoked while its agent is killed or deleted', async () => {
  const { redis, store, killBoard } = aStore()
  const revoked = aKey({ revoked_at: KILLED_AT, revoked_by: 'kill' })
  redis.agents.set('agt_a', killed(5))
  assert.equal(await store.revokedByKill(revoked, 'agt_a'), revoked)
  redis.agents.delete('agt_a')
  store.clear()
  assert.equal(await store.revokedByKill(revoked, 'agt_a'), revoked)
  // Known from a message alone.
  redis.agents.set('agt_b', anAgent({ agent_id: 'agt_b' }))
  await store.agent(ORG, 'agt_b')
  killBoard.receive(ORG, 'agt_b', { revision: 9, killed_at: KILLED_AT })
  assert.equal(await store.revokedByKill(revoked, 'agt_b'), revoked)
  assert.ok(!redis.reads.includes('key h'))
})
