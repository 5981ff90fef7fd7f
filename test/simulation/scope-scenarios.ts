import { ROLES, type Role } from './network.ts'
import type { Step } from './plan.ts'
import type { Random } from './random.ts'
import type { Scenario, Scenarios } from './scenarios.ts'

// Faults that meet the ends and beginnings of scopes, labels and selectors.

/** Of agents: of both numbers, and of none. */
export const TEAMS = ['even', 'even', 'odd', null] as const

export const drawWindow = (random: Random) => ({
  scope: random.pick(['own', 'team'] as const),
  from_ms: random.chance(0.25) ? random.whole(0, 800) : null,
  until_ms: random.chance(0.7) ? random.whole(50, 1_500) : null,
  end_streams: random.chance(0.6),
})

type Path = 'open' | 'team'

const calls = (
  one: Scenario,
  at_ms: number,
  for_ms: number,
  lasts_ms: number,
  every_ms = 20,
  path: Path = one.random.pick(['open', 'team'] as const),
): Step => ({ ...one.calls(at_ms, for_ms, lasts_ms, every_ms), path }) as Step

const window = (one: Scenario, at_ms: number, change: object = {}): Step => ({
  at_ms,
  kind: 'window',
  admin: one.admin,
  agent: one.agent,
  ...drawWindow(one.random),
  ...change,
})

/** The agent gets a label that selects it or does not, or the selector does. */
const select = (one: Scenario, at_ms: number): Step => {
  const { random, admin, agent } = one
  const team = random.pick(TEAMS)
  return team === null || random.chance(0.6)
    ? { at_ms, kind: 'label', admin, agent, team }
    : { at_ms, kind: 'select', admin, team }
}

const change = (one: Scenario, at_ms: number): Step =>
  one.random.chance(0.4) ? window(one, at_ms) : select(one, at_ms)

/** Each with running calls, and with new ones all the time. */
export const SCOPES: Scenarios = [
  function atItsEnd(one) {
    const { random, lease_ms } = one
    const scope = random.pick(['own', 'team'] as const)
    const path = scope === 'own' ? 'open' : 'team'
    const until_ms = random.whole(150, 900)
    const from_ms = random.chance(0.3) ? until_ms - random.whole(50, 140) : null
    const steps = [
      calls(one, 0, 60, until_ms + 2_800, 20, path),
      window(one, 60, { scope, from_ms, until_ms }),
      calls(one, 60 + until_ms - 200, 400, 5, 8, path),
      calls(one, 60 + until_ms - 200, 400, 5, 8, path),
    ]
    if (random.chance(0.4)) steps.push({ at_ms: one.ms(60, 300), kind: 'rotate', admin: one.admin })
    if (random.chance(0.4))
      steps.push({ at_ms: 60 + until_ms + one.ms(50, 500), kind: 'rotate', admin: one.admin })
    if (random.chance(0.3))
      steps.push({ at_ms: 70, kind: 'crash', process: one.processOf(0), steps: 0, down_ms: 700 })
    if (random.chance(0.4)) {
      const by_ms = random.pick([-3_600_000, 3_600_000, 5_000, lease_ms])
      steps.push({ at_ms: one.ms(0, 300), kind: 'clock', process: one.anyEdge, by_ms })
    }
    return steps
  },
  function whileAnEdgeIsCutOff(one) {
    const { random, edge: process, lease_ms } = one
    const ways = random.pick([['up'], ['down'], ['up', 'down']] as const)
    const roles = random.pick([ROLES, ['subscription'], ['commands']] as const)
    const lasts_ms = one.ms(1.2, 1.8) * lease_ms
    return [
      calls(one, 0, 40, 2.5 * lease_ms),
      calls(one, 50, 1.8 * lease_ms, 5, lease_ms / 25),
      calls(one, 50, 1.8 * lease_ms, 5, lease_ms / 25),
      { at_ms: 45, kind: 'cut off', process, ways, roles, lasts_ms },
      change(one, one.ms(50, lease_ms)),
      change(one, one.ms(50, lease_ms)),
    ]
  },
  function withLostMessages(one) {
    const { random, edge: process, lease_ms } = one
    const lost = random.pick([0, 0.5, 1])
    const delayed = random.pick([0, 0.6])
    const lasts_ms = one.ms(0.3, 1.5) * lease_ms
    return [
      { at_ms: 20, kind: 'messages', process, lost, doubled: 0.3, delayed, lasts_ms },
      calls(one, 0, 20, 3 * lease_ms),
      calls(one, 20, 2 * lease_ms, 5, lease_ms / 25),
      calls(one, 20, 2 * lease_ms, 5, lease_ms / 25),
      ...Array.from({ length: 3 }, () => change(one, one.ms(20, lasts_ms))),
    ]
  },
  function withAFailover(one) {
    const { random, edge: process } = one
    const lost_ms = random.pick([100, 300, 1000])
    const roles: readonly Role[] = random.chance(0.5) ? ['subscription'] : []
    return [
      calls(one, 0, 100 + lost_ms, 300, 30),
      change(one, one.ms(0, 60)),
      { at_ms: 100, kind: 'failover', lost_ms, down_ms: one.ms(20, 600), has_replica: false },
      change(one, 100 + one.ms(0, lost_ms)),
      change(one, 100 + one.ms(0, lost_ms)),
      { at_ms: 100 + lost_ms, kind: 'slow', process, roles, to_ms: 200, lasts_ms: 1_600 },
      change(one, 100 + lost_ms + one.ms(600, 1_200)),
      calls(one, 100 + lost_ms + 600, 900, 10, 15),
    ]
  },
  function whilePoliciesAreRead(one) {
    const { edge: process } = one
    const to_ms = one.random.pick([120, 400])
    return [
      { at_ms: 0, kind: 'slow', process, roles: ['commands'], to_ms, lasts_ms: 1200 },
      calls(one, 0, 1200, 5, 20),
      calls(one, 0, 1200, 5, 20),
      ...Array.from({ length: 5 }, () => change(one, one.ms(0, 900))),
    ]
  },
  function underRunningCalls(one) {
    return [
      calls(one, 0, 100, 3_500, 10),
      calls(one, 0, 100, 3_500, 10),
      ...Array.from({ length: 2 }, () => select(one, one.ms(120, 600))),
      calls(one, 120, 1_000, 5, 25),
      { at_ms: 3_400, kind: 'rotate', admin: one.admin },
    ]
  },
]
