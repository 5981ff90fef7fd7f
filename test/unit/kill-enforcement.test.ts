import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import type { KillRecord } from '../../core/kill/kill-record.ts'
import type { Agent } from '../../core/catalogue/model.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { STORE_FORMAT } from '../../core/store/stored-record.ts'
import { cutDeleted } from '../../ext-proc/kill/cut-deleted.ts'
import { enforceKill, type RestrictionTarget } from '../../ext-proc/kill/enforce-kill.ts'
import {
  type Cut,
  type CutCounts,
  type CallInFlight,
  CallsInFlight,
} from '../../ext-proc/kill/calls-in-flight.ts'
import { RestrictionBoard, type AgentKillState } from '../../ext-proc/kill/restriction-board.ts'
import { makeConfirmer } from '../../ext-proc/kill/make-confirmer.ts'
import { makeVerifier } from '../../ext-proc/kill/make-verifier.ts'
import { resync } from '../../ext-proc/kill/resync.ts'
import { PolicyStore } from '../../ext-proc/policy/policy-store.ts'
import { settle } from '../kit/fake-control-channel.ts'
import { FakePolicyRedis } from '../kit/fake-policy-redis.ts'
import { anAgent } from './policy-kit.ts'

const ORG = 'org_default'
const KILLED_AT = '2026-01-02T00:00:00.000Z'
const keyRing = parseKeyRing(randomBytes(32).toString('base64'))
const active = (agent_id: string, revision = 0): Agent => anAgent({ agent_id, revision })
const killed = (agent_id: string, revision: number): Agent => ({
  ...active(agent_id, revision),
  status: 'killed',
  killed_at: KILLED_AT,
})
/** As a version would store it whose records this one cannot read. */
const newer = (agent: Agent): Agent =>
  ({ ...agent, status: 'unknown', store_format: STORE_FORMAT + 1 }) as never
const kill = (agent_id: string, revision: number): RestrictionTarget => ({
  what: 'kill',
  organization_id: ORG,
  agent_id,
  revision,
  killed_at: KILLED_AT,
})
const reactivation = (agent_id: string, revision: number): RestrictionTarget => ({
  what: 'reactivate',
  organization_id: ORG,
  agent_id,
  revision,
})

/** An edge with a store. Its calls in flight end as soon as they are cut. */
function anEdge(...agents: readonly Agent[]) {
  const redis = new FakePolicyRedis()
  for (const agent of agents) redis.agents.set(agent.agent_id, agent)
  const lost: AgentKillState[] = []
  const killBoard = new RestrictionBoard((state) => lost.push(state))
  const inFlight = new CallsInFlight()
  const policy = new PolicyStore({ redis: redis.client, keyRing, killBoard })
  const confirms: string[] = []
  const parts = {
    policy,
    killBoard,
    inFlight,
    commands: redis.client,
    nowMs: Date.now,
    confirmSoon: () => void confirms.push('soon'),
  }
  const cuts: string[] = []
  const hold = (agent_id: string, organization_id = ORG): void => {
    let end = (): void => undefined
    const call: CallInFlight = {
      organization_id,
      agent_id,
      passed_ms: null,
      ended: new Promise((resolve) => {
        end = resolve
      }),
      cut: (why: Cut) => {
        cuts.push(`${agent_id} ${why.reason === 'agent_killed' ? why.killed_at : why.reason}`)
        end()
        return true
      },
    }
    inFlight.add(call)
  }
  const acknowledged: string[] = []
  const resyncAll = async (): Promise<void> => {
    await resync(parts, (epoch, { terminated }: CutCounts) => {
      acknowledged.push(`${epoch} ${terminated}`)
    })
    await settle()
  }
  const isKilled = (agent_id: string): boolean => killBoard.killedAt(ORG, agent_id) !== null
  return {
    redis,
    lost,
    killBoard,
    inFlight,
    policy,
    parts,
    confirms,
    cuts,
    hold,
    acknowledged,
    resyncAll,
    isKilled,
  }
}

test('a kill cuts every call of its agent at once, and is then compared with the store', async () => {
  const { parts, cuts, confirms, hold, isKilled, redis } = anEdge(active('a'), active('b'))
  for (const agent of ['a', 'b', 'a']) hold(agent)
  const cutting = enforceKill(parts, kill('a', 1))
  assert.deepEqual(cuts, [`a ${KILLED_AT}`, `a ${KILLED_AT}`], 'before anything is waited for')
  assert.ok(isKilled('a'))
  assert.deepEqual(confirms, ['soon'])
  assert.deepEqual(await cutting, { terminated: 2, unconfirmed: 0 })
  assert.deepEqual(redis.reads, [], 'the store is not waited for')
})

test('a kill that is known cuts what has come since, and asks for no second comparison', async () => {
  const { parts, cuts, confirms, hold } = anEdge(active('a'))
  await enforceKill(parts, kill('a', 1))
  hold('a')
  assert.deepEqual(await enforceKill(parts, kill('a', 1)), { terminated: 1, unconfirmed: 0 })
  assert.equal(cuts.length, 1)
  assert.deepEqual(confirms, ['soon'])
})

test('a kill from before a reactivation cuts nothing', async () => {
  const { parts, cuts, hold, isKilled, policy } = anEdge(active('a', 6))
  await policy.agent(ORG, 'a')
  hold('a')
  assert.deepEqual(await enforceKill(parts, kill('a', 5)), { terminated: 0, unconfirmed: 0 })
  assert.deepEqual(cuts, [])
  assert.equal(isKilled('a'), false)
})

test('a reactivation is learnt from the store alone; a forged one changes nothing', async () => {
  const { parts, redis, isKilled, policy } = anEdge(killed('a', 5))
  await policy.agent(ORG, 'a')
  await enforceKill(parts, reactivation('a', 99))
  assert.ok(isKilled('a'))
  redis.agents.set('a', active('a', 6))
  await enforceKill(parts, reactivation('a', 6))
  assert.equal(isKilled('a'), false)
})

test('a reactivation that cannot be read is not acknowledged, and the kill stays', async () => {
  const { parts, redis, isKilled, policy } = anEdge(killed('a', 5))
  await policy.agent(ORG, 'a')
  redis.isUp = false
  await assert.rejects(enforceKill(parts, reactivation('a', 6)))
  assert.ok(isKilled('a'))
})

test('kills that come together are confirmed by one read, and a forged one is lifted by it', async ({
  mock,
}: TestContext) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, redis, isKilled, killBoard } = anEdge(killed('a', 5), active('b'), active('c'))
  const confirmSoon = makeConfirmer(parts)
  for (const target of [kill('a', 5), kill('b', 7)])
    await enforceKill({ ...parts, confirmSoon }, target)
  mock.timers.tick(99)
  assert.deepEqual(redis.reads, [])
  mock.timers.tick(1)
  await settle()
  assert.deepEqual(redis.reads, ['agents a,b'])
  assert.deepEqual([isKilled('a'), isKilled('b')], [true, false])
  assert.deepEqual(killBoard.toConfirm(), [])
})

test('while the store cannot be read, what a message says holds', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, redis, isKilled, killBoard } = anEdge(active('a'))
  redis.isUp = false
  await enforceKill({ ...parts, confirmSoon: makeConfirmer(parts) }, kill('a', 5))
  mock.timers.tick(100)
  await settle()
  assert.ok(isKilled('a'))
  assert.equal(killBoard.toConfirm().length, 1)
})

const record = (agent_id: string, revision: number): KillRecord => ({
  organization_id: ORG,
  agent_id,
  revision,
  killed_at: KILLED_AT,
  event: null,
  published_ms: 0,
  finish_after_ms: 0,
  last_published_ms: 0,
})

test('a resync drops the caches and cuts the calls of agents that were killed unnoticed', async () => {
  const { redis, policy, cuts, hold, resyncAll, isKilled } = anEdge(active('a'), active('b'))
  await policy.agent(ORG, 'a')
  await policy.key('h')
  hold('a')
  hold('b')
  redis.agents.set('a', killed('a', 5))
  await resyncAll()
  assert.deepEqual(cuts, [`a ${KILLED_AT}`])
  assert.deepEqual([isKilled('a'), isKilled('b')], [true, false])
  redis.reads.length = 0
  await policy.agent(ORG, 'a')
  await policy.key('h')
  assert.deepEqual(redis.reads, ['agent a', 'key h'])
})

test('a resync reads records alone: no agent whose scopes take long holds up the kill of another', async () => {
  const { redis, cuts, hold, resyncAll } = anEdge(active('large'), killed('b', 5))
  hold('large')
  hold('b')
  await resyncAll()
  assert.deepEqual(redis.reads, ['kills', 'agents large,b'])
  assert.deepEqual(cuts, [`b ${KILLED_AT}`])
})

test('a damaged record costs the calls of its agent, and no other kill and no lease', async () => {
  const { redis, cuts, hold, resyncAll, parts } = anEdge(active('a'), killed('b', 5))
  hold('a')
  hold('b')
  redis.damaged.add('a')
  await resyncAll()
  assert.deepEqual(cuts.sort(), ['a gateway_unavailable', `b ${KILLED_AT}`])
  await assert.rejects(enforceKill(parts, reactivation('a', 9)), /cannot be read/)
})

test('a resync confirms or lifts what only messages have said', async () => {
  const { parts, resyncAll, isKilled, killBoard } = anEdge(killed('a', 5), active('b', 0))
  await enforceKill(parts, kill('a', 5))
  await enforceKill(parts, kill('b', 5))
  await resyncAll()
  assert.deepEqual([isKilled('a'), isKilled('b')], [true, false])
  assert.deepEqual(killBoard.toConfirm(), [])
})

test('a resync acknowledges the pending kills with their counts', async () => {
  const { redis, hold, acknowledged, resyncAll } = anEdge(killed('a', 5), active('b', 9))
  redis.kills.set(7, record('a', 5))
  redis.kills.set(8, record('b', 3))
  hold('a')
  hold('b')
  await resyncAll()
  assert.deepEqual(acknowledged, ['7 1'], 'not the one that a reactivation has undone')
})

test('a resync that cannot read the store rejects, and has cut nothing', async () => {
  const { redis, hold, cuts, resyncAll } = anEdge(killed('a', 5))
  hold('a')
  redis.isUp = false
  await assert.rejects(resyncAll())
  assert.deepEqual(cuts, [])
})

test('a deleted organization ends the calls of its agents, and of no others', async () => {
  const { parts, cuts, hold } = anEdge(active('stays'))
  hold('stays')
  hold('gone')
  hold('gone', 'org_b')
  assert.deepEqual(await cutDeleted(parts, ORG), { terminated: 1, unconfirmed: 0 })
  assert.equal(cuts.length, 1)
  assert.match(cuts[0] ?? '', /^gone /)
})

test('an agent that a newer version has stored is cut, and takes the lease of no other', async () => {
  const { redis, cuts, hold, resyncAll, acknowledged, parts } = anEdge(active('a'), killed('b', 5))
  for (const agent of ['a', 'b', 'c']) hold(agent)
  redis.agents.set('c', active('c'))
  redis.agents.set('a', newer(active('a')))
  redis.kills.set(7, record('a', 1))
  await resyncAll()
  assert.deepEqual(cuts.sort(), ['a gateway_unavailable', `b ${KILLED_AT}`])
  assert.deepEqual(acknowledged, ['7 1'], 'all of its calls are cut')
  hold('a')
  assert.deepEqual(await cutDeleted(parts, ORG), { terminated: 1, unconfirmed: 0 })
})

test('a record of a newer version does not keep the kills of other agents from being compared', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, redis, isKilled } = anEdge(newer(killed('a', 5)), active('b'))
  const confirmSoon = makeConfirmer(parts)
  for (const target of [kill('a', 5), kill('b', 7)])
    await enforceKill({ ...parts, confirmSoon }, target)
  mock.timers.tick(100)
  await settle()
  assert.deepEqual([isKilled('a'), isKilled('b')], [true, false])
  const warnings: string[] = []
  makeVerifier(parts, { warn: (_data, message) => void warnings.push(message) })()
  await settle()
  assert.deepEqual(warnings, [])
  assert.deepEqual(redis.reads, ['agents a,b', 'agents a,b'])
})

test('after a reconnect all that is known of kills is compared with the store, as often as it takes', async ({
  mock,
}) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, redis, policy, lost, isKilled } = anEdge(killed('a', 5), active('b', 6))
  await policy.agent(ORG, 'a')
  await policy.agent(ORG, 'b')
  const warnings: string[] = []
  const verify = makeVerifier(parts, { warn: (_data, message) => void warnings.push(message) })
  // Another store, which knows of nothing.
  redis.agents.set('a', active('a'))
  redis.agents.delete('b')
  redis.isUp = false
  verify()
  await settle()
  assert.equal(warnings.length, 1)
  assert.deepEqual(lost, [])
  redis.isUp = true
  mock.timers.runAll()
  await settle()
  assert.deepEqual(
    lost.map(({ agent_id, revision, killed_at }) => [agent_id, revision, killed_at]),
    [['a', 5, KILLED_AT]],
  )
  assert.ok(isKilled('a'))
})

test('an agent whose kill and reactivation the store has lost is reported as reactivated', async () => {
  const { parts, redis, policy, lost, isKilled } = anEdge(active('a', 6))
  await policy.agent(ORG, 'a')
  redis.agents.set('a', killed('a', 5))
  makeVerifier(parts, { warn: () => undefined })()
  await settle()
  assert.deepEqual([lost[0]?.revision, lost[0]?.killed_at], [6, null])
  assert.equal(isKilled('a'), false)
})
