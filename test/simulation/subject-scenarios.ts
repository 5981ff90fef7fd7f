import { LOCK_MODES, LOCK_TARGETS } from '../../core/catalogue/model.ts'
import { LIFE_MS } from './deployment.ts'
import { ROLES, type Role } from './network.ts'
import type { Step } from './plan.ts'
import type { Scenario, Scenarios } from './scenarios.ts'
import { SCOPES } from './scope-scenarios.ts'
import { PROVIDER_FAULTS } from './subject.ts'

// Faults that meet locks, approvals and refreshes.

const BOTH = ['up', 'down'] as const

const lock = (one: Scenario, at_ms: number, for_ms: number | null = null): Step => ({
  at_ms,
  kind: 'lock',
  admin: one.admin,
  agent: one.agent,
  target: one.random.pick(LOCK_TARGETS),
  mode: one.random.pick(LOCK_MODES),
  for_ms,
})

const unlock = (one: Scenario, at_ms: number): Step => ({
  at_ms,
  kind: 'unlock',
  admin: one.admin,
  which: one.random.whole(0, 2),
})

const posts = (one: Scenario, at_ms: number, for_ms: number, lasts_ms: number, every_ms = 20) =>
  ({ ...one.calls(at_ms, for_ms, lasts_ms, every_ms), method: 'POST' }) as Step

const LOCKS: Scenarios = [
  function whileAnEdgeIsCutOff(one) {
    const { random, edge: process, lease_ms } = one
    const ways = random.pick([['up'], ['down'], ['up', 'down']] as const)
    const roles = random.pick([ROLES, ['subscription'], ['commands']] as const)
    const lasts_ms = one.ms(1.2, 1.8) * lease_ms
    return [
      posts(one, 0, 40, 2.5 * lease_ms),
      posts(one, 50, 1.8 * lease_ms, 5, lease_ms / 25),
      { at_ms: 45, kind: 'cut off', process, ways, roles, lasts_ms },
      lock(one, one.ms(50, lease_ms)),
      lock(one, one.ms(0, 40)),
      unlock(one, one.ms(50, lease_ms)),
    ]
  },
  function withLateMessages(one) {
    const { edge: process, lease_ms } = one
    const fault = { lost: 0, doubled: 0.5, delayed: 0.6, lasts_ms: lease_ms }
    return [
      { at_ms: 0, kind: 'messages', process, ...fault },
      posts(one, 0, 900, 300, 15),
      lock(one, one.ms(10, 40)),
      unlock(one, one.ms(60, 300)),
      lock(one, one.ms(300, 500)),
      unlock(one, one.ms(400, 700)),
    ]
  },
  function withLostMessages(one) {
    const { random, edge: process, lease_ms } = one
    const lost = random.pick([0.5, 1])
    const lasts_ms = one.ms(0.3, 1.5) * lease_ms
    return [
      { at_ms: 20, kind: 'messages', process, lost, doubled: 0, delayed: 0, lasts_ms },
      posts(one, 0, 20, 3 * lease_ms),
      posts(one, 20, 2 * lease_ms, 5, lease_ms / 25),
      lock(one, one.ms(20, lasts_ms)),
      unlock(one, one.ms(40, lasts_ms)),
      lock(one, one.ms(20, lasts_ms)),
    ]
  },
  function withAFailover(one) {
    const { random, edge: process } = one
    const lost_ms = random.pick([100, 300, 1000])
    const roles: readonly Role[] = random.chance(0.5) ? ['subscription'] : []
    return [
      posts(one, 0, 100 + lost_ms, 300, 30),
      lock(one, one.ms(0, 60)),
      { at_ms: 100, kind: 'failover', lost_ms, down_ms: one.ms(20, 600), has_replica: false },
      lock(one, 100 + one.ms(0, lost_ms)),
      unlock(one, 100 + one.ms(0, lost_ms)),
      { at_ms: 100 + lost_ms, kind: 'slow', process, roles, to_ms: 200, lasts_ms: 1_600 },
      unlock(one, 100 + lost_ms + one.ms(600, 1_200)),
      posts(one, 100 + lost_ms + 600, 900, 10, 15),
    ]
  },
  function thatEndsWhileAdminIsDown(one) {
    const { random, admin } = one
    const for_ms = random.whole(150, 900)
    const process = one.processOf(admin)
    return [
      posts(one, 0, 1_400, 5, 24),
      one.calls(0, 30, 2_000),
      lock(one, 20, for_ms),
      { at_ms: one.ms(40, 150), kind: 'crash', process, steps: 0, down_ms: 700 },
      lock(one, one.ms(0, 60), for_ms),
    ]
  },
  function whileStatesAreRead(one) {
    const { edge: process } = one
    const to_ms = one.random.pick([120, 400])
    return [
      { at_ms: 0, kind: 'slow', process, roles: ['commands'], to_ms, lasts_ms: 1200 },
      posts(one, 0, 1200, 5, 20),
      lock(one, one.ms(0, 300)),
      unlock(one, one.ms(100, 500)),
      lock(one, one.ms(300, 700)),
      unlock(one, one.ms(500, 900)),
      one.change(one.ms(0, 600)),
    ]
  },
]

const asked = (
  one: Scenario,
  at_ms: number,
  count: number,
  every_ms: number,
  wait_s = 0,
): Step => ({
  at_ms,
  kind: 'calls',
  edge: one.anyEdge,
  agent: one.agent,
  key: 0,
  count,
  every_ms,
  lasts_ms: 20,
  path: 'asked',
  item: 0,
  wait_s,
})

const approve = (one: Scenario, at_ms: number): Step => ({
  at_ms,
  kind: 'approve',
  admin: one.admin,
  agent: one.agent,
})

/** Many at once, at several edges. */
const rush = (one: Scenario, at_ms: number, count = 6): readonly Step[] =>
  Array.from({ length: 3 }, () =>
    asked(one, at_ms + one.ms(0, 3), count, one.random.pick([1, 6, 20])),
  )

const APPROVALS: Scenarios = [
  function byManyRepeats(one) {
    return [
      asked(one, 0, 1, 1),
      approve(one, one.ms(30, 60)),
      ...rush(one, 60),
      approve(one, one.ms(150, 200)),
      ...rush(one, 200),
    ]
  },
  function whileAnEdgeCrashes(one) {
    const { random } = one
    return [
      asked(one, 0, 1, 1),
      approve(one, 30),
      ...rush(one, 70),
      {
        at_ms: one.ms(68, 80),
        kind: 'crash',
        process: one.anyEdge,
        steps: random.whole(0, 12),
        down_ms: one.ms(5, 400),
      },
      ...rush(one, 600),
    ]
  },
  function thatRacesAKill(one) {
    const at_ms = one.ms(40, 90)
    const isTaken = one.random.chance(0.5)
    return [
      asked(one, 0, 1, 1),
      approve(one, at_ms + one.ms(-15, 15)),
      one.kill(at_ms),
      ...(isTaken ? [...rush(one, at_ms - 10), ...rush(one, at_ms + 10)] : []),
      one.reactivate(at_ms + one.ms(50, 200)),
      ...rush(one, at_ms + 250, 20),
    ]
  },
  function withAFailover(one) {
    const { random } = one
    const lost_ms = random.pick([30, 100, 300])
    return [
      asked(one, 0, 1, 1),
      approve(one, one.ms(20, 60)),
      {
        at_ms: one.ms(40, 90),
        kind: 'failover',
        lost_ms,
        down_ms: one.ms(20, 200),
        has_replica: random.chance(0.5),
      },
      ...rush(one, 90),
      ...rush(one, 600 + lost_ms),
      approve(one, 900 + lost_ms),
      ...rush(one, 950 + lost_ms),
    ]
  },
  function whileCallsWait(one) {
    const { random, edge: process } = one
    const lost = random.pick([0, 0.5, 1])
    return [
      { at_ms: 0, kind: 'messages', process, lost, doubled: 0.3, delayed: 0, lasts_ms: 900 },
      asked(one, 0, 3, 2, 1),
      asked(one, one.ms(0, 200), 3, 2, 1),
      approve(one, one.ms(30, 900)),
      random.chance(0.5) ? one.kill(one.ms(30, 900)) : one.change(one.ms(30, 900)),
      ...rush(one, 900),
    ]
  },
  function afterItsEnd(one) {
    return [
      asked(one, 0, 1, 1),
      approve(one, 30),
      { at_ms: one.ms(50, 70), kind: 'clock', process: -1, by_ms: 3_600_000 },
      ...rush(one, 80),
    ]
  },
  function whileTheStoreIsSlow(one) {
    const { random } = one
    return [
      asked(one, 0, 1, 1),
      approve(one, 30),
      {
        at_ms: 60,
        kind: 'slow',
        process: one.anyEdge,
        roles: ['commands'],
        to_ms: random.pick([120, 400]),
        lasts_ms: 700,
      },
      ...rush(one, 70),
      {
        at_ms: one.ms(75, 200),
        kind: 'pause',
        process: random.pick([-1, one.edge]),
        lasts_ms: one.ms(100, 1_200),
      },
      ...rush(one, 800),
    ]
  },
]

const tokens = (one: Scenario, at_ms: number, count: number, every_ms: number): Step => ({
  at_ms,
  kind: 'tokens',
  edge: one.anyEdge,
  count,
  every_ms,
})

/** Scenarios begin when the first token is about to be renewed. */
const REFRESH: Scenarios = [
  function whileItCrashes(one) {
    const { random } = one
    return [
      tokens(one, 0, 10, 40),
      tokens(one, 0, 10, 40),
      ...Array.from({ length: random.whole(1, 3) }, (): Step => {
        const isAdmin = random.chance(0.6)
        return {
          at_ms: one.ms(0, 900),
          kind: 'crash',
          process: isAdmin ? one.processOf(one.admin) : one.anyEdge,
          steps: random.whole(0, 8),
          down_ms: one.ms(5, 600),
        }
      }),
      tokens(one, 900, 10, 60),
    ]
  },
  function whileAnswersAreLost(one) {
    const fails = one.random.pick(PROVIDER_FAULTS)
    return [
      { at_ms: one.ms(0, 200), kind: 'provider', fails, lasts_ms: one.ms(300, 1_500) },
      tokens(one, 0, 10, 80),
      tokens(one, 500, 10, 80),
    ]
  },
  function whileTheRefresherStands(one) {
    const { random } = one
    return [
      { at_ms: 0, kind: 'provider', fails: 'slow', lasts_ms: 2_000 },
      tokens(one, 0, 10, 120),
      ...Array.from(
        { length: 2 },
        (): Step => ({
          at_ms: one.ms(50, 900),
          kind: 'pause',
          process: random.chance(0.6) ? one.processOf(one.admin) : one.anyEdge,
          lasts_ms: one.ms(500, 2_500),
        }),
      ),
      tokens(one, 500, 10, 120),
    ]
  },
  function whileTheStoreIsAway(one) {
    const { random } = one
    const lasts_ms = one.ms(100, 1_500)
    return [
      tokens(one, 0, 10, 80),
      { at_ms: 0, kind: 'provider', fails: 'slow', lasts_ms: 2_000 },
      random.chance(0.5)
        ? { at_ms: one.ms(50, 600), kind: 'pause', process: -1, lasts_ms }
        : {
            at_ms: one.ms(50, 600),
            kind: 'cut off',
            process: one.processOf(one.admin),
            ways: BOTH,
            roles: ROLES,
            lasts_ms,
          },
      tokens(one, 700, 10, 80),
    ]
  },
  function duringAConsent(one) {
    const { random } = one
    return [
      { at_ms: 0, kind: 'provider', fails: random.pick(['slow', 'answer']), lasts_ms: 1_000 },
      tokens(one, 0, 10, 80),
      { at_ms: one.ms(100, 1_200), kind: 'consent', admin: one.admin },
      tokens(one, 800, 10, LIFE_MS / 10),
    ]
  },
  function withAFailover(one) {
    const { random } = one
    const lost_ms = random.pick([100, 300, 1_000])
    return [
      tokens(one, 0, 10, 80),
      {
        at_ms: one.ms(50, 500),
        kind: 'failover',
        lost_ms,
        down_ms: one.ms(20, 400),
        has_replica: random.chance(0.5),
      },
      tokens(one, 900, 10, 80),
    ]
  },
]

export const SUBJECT_SCENARIOS = {
  locks: LOCKS,
  scopes: SCOPES,
  approvals: APPROVALS,
  refresh: REFRESH,
} as const
