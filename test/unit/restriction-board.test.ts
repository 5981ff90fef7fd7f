import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Agent } from '../../core/catalogue/model.ts'
import { RestrictionBoard, type AgentKillState } from '../../ext-proc/kill/restriction-board.ts'

const agent = (revision: number, status: Agent['status']): Agent => ({
  agent_id: 'a',
  agent_name: 'a',
  organization_id: 'o',
  status,
  revision,
  created_at: '2026-01-01T00:00:00.000Z',
  killed_at: status === 'killed' ? `killed ${revision}` : null,
  kill_reason: null,
  metadata: {},
})
const kill = (revision: number) => ({ revision, killed_at: `killed ${revision}` })

function board(): { board: RestrictionBoard; lost: AgentKillState[] } {
  const lost: AgentKillState[] = []
  return { board: new RestrictionBoard((state) => lost.push(state)), lost }
}

test('a message kills at once, and a read that began before it changes nothing', () => {
  const { board: it, lost } = board()
  const before = it.moment()
  assert.equal(it.receive('o', 'a', kill(5)), 'news')
  it.learnStored(agent(0, 'active'), before)
  assert.equal(it.killedAt('o', 'a'), 'killed 5')
  assert.deepEqual(lost, [])
})

test('a forged kill is lifted by the read that follows it, and writes nothing back', () => {
  const { board: it, lost } = board()
  it.receive('o', 'a', kill(99))
  it.learnStored(agent(3, 'active'), it.moment())
  assert.equal(it.killedAt('o', 'a'), null)
  it.receive('o', 'nobody', kill(99))
  it.learnAbsent('o', 'nobody', it.moment())
  assert.equal(it.known('o', 'nobody'), undefined)
  assert.deepEqual(lost, [])
})

test('a confirmed kill that the store has lost stays in force and is reported to be written back', () => {
  const { board: it, lost } = board()
  it.receive('o', 'a', kill(5))
  it.learnStored(agent(5, 'killed'), it.moment())
  it.learnStored(agent(0, 'active'), it.moment())
  assert.equal(it.killedAt('o', 'a'), 'killed 5')
  assert.equal(lost[0]?.revision, 5)
})

test('a forged kill over a confirmed one that the store has lost falls back to the confirmed one', () => {
  const { board: it, lost } = board()
  it.learnStored(agent(5, 'killed'), it.moment())
  it.receive('o', 'a', kill(99))
  it.learnStored(agent(0, 'active'), it.moment())
  assert.equal(it.killedAt('o', 'a'), 'killed 5')
  assert.equal(lost[0]?.revision, 5)
})

test('an older kill that is published again does not touch an agent that was reactivated since', () => {
  const { board: it } = board()
  it.learnStored(agent(5, 'killed'), it.moment())
  it.learnStored(agent(6, 'active'), it.moment())
  assert.equal(it.receive('o', 'a', kill(5)), 'outdated')
  assert.equal(it.killedAt('o', 'a'), null)
})

test('in any order of messages and reads, only a read of a higher revision ends a confirmed kill', () => {
  const step = fc.oneof(
    fc.record({ what: fc.constant('hear' as const), revision: fc.integer({ min: 1, max: 20 }) }),
    fc.record({
      what: fc.constant('read' as const),
      revision: fc.integer({ min: 0, max: 20 }),
      is_killed: fc.boolean(),
      is_old: fc.boolean(),
    }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { board: it } = board()
      let confirmed = 0
      for (const one of steps) {
        const killedBefore = it.killedAt('o', 'a')
        const known = it.known('o', 'a')
        if (one.what === 'hear') {
          it.receive('o', 'a', kill(one.revision))
        } else {
          const status = one.is_killed ? 'killed' : 'active'
          const since = one.is_old ? -1 : it.moment()
          it.learnStored(agent(one.revision, status), since)
          const isUp = one.revision > confirmed
          if (killedBefore !== null && it.killedAt('o', 'a') === null)
            assert.ok(!known?.is_confirmed || isUp)
        }
        const now = it.known('o', 'a')
        if (now?.is_confirmed) {
          assert.ok(now.revision >= confirmed)
          confirmed = now.revision
        }
      }
    }),
  )
})
