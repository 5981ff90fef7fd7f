import { ROLES, type Role } from './network.ts'
import type { Random } from './random.ts'
import type { Step } from './plan.ts'
import type { Subject } from './subject.ts'
import { SUBJECT_SCENARIOS } from './subject-scenarios.ts'

// Faults that meet what they are about: a partition with a kill in it, a failover that loses a change. Their parameters are drawn.

export interface Size {
  readonly random: Random
  readonly subject: Subject
  readonly edges: number
  readonly admins: number
  readonly agents: number
  readonly lease_ms: number
}

/** All connections of a process, or those of one kind. */
export const SOME_ROLES: readonly (readonly Role[])[] = [
  ROLES,
  ROLES,
  ['commands'],
  ['subscription'],
  ['urgent'],
]

const BOTH = ['up', 'down'] as const

/** Draws the parts of one scenario. Times begin at 0. */
export class Scenario {
  readonly random: Random
  readonly lease_ms: number
  readonly edge: number
  readonly agent: number
  readonly #size: Size

  constructor(size: Size) {
    const { random, edges, agents, lease_ms } = (this.#size = size)
    this.random = random
    this.lease_ms = lease_ms
    this.edge = random.whole(0, edges - 1)
    this.agent = random.whole(0, agents - 1)
  }

  get admin(): number {
    return this.random.whole(0, this.#size.admins - 1)
  }

  get anyEdge(): number {
    return this.random.whole(0, this.#size.edges - 1)
  }

  processOf(admin: number): number {
    return this.#size.edges + admin
  }

  ms(low: number, high: number): number {
    return this.random.between(low, high)
  }

  calls(at_ms: number, for_ms: number, lasts_ms: number, every_ms = 20): Step {
    const { edge, agent, random } = this
    const path = random.pick(['open', 'data'] as const)
    const count = Math.min(60, Math.ceil(for_ms / every_ms))
    return { at_ms, kind: 'calls', edge, agent, key: 0, count, every_ms, lasts_ms, path }
  }

  kill(at_ms: number): Step {
    return { at_ms, kind: 'kill', admin: this.admin, agent: this.agent }
  }

  reactivate(at_ms: number): Step {
    return { at_ms, kind: 'reactivate', admin: this.admin, agent: this.agent }
  }

  change(at_ms: number): Step {
    const { admin, agent } = this
    return this.random.chance(0.6)
      ? { at_ms, kind: 'rotate', admin }
      : { at_ms, kind: 'scope', admin, agent }
  }
}

export type Scenarios = readonly ((scenario: Scenario) => readonly Step[])[]

const SCENARIOS: Scenarios = [
  function whileAnEdgeIsCutOff(one) {
    const { random, edge: process, lease_ms } = one
    const ways = random.pick([['up'], ['down'], ['up', 'down']] as const)
    const roles = random.pick(SOME_ROLES)
    const lasts_ms = one.ms(1.2, 1.8) * lease_ms
    return [
      one.calls(0, 40, 2.5 * lease_ms),
      one.calls(50, 1.8 * lease_ms, 5, lease_ms / 25),
      { at_ms: 45, kind: 'cut off', process, ways, roles, lasts_ms },
      one.kill(one.ms(50, lease_ms)),
      one.change(one.ms(50, lease_ms)),
    ]
  },
  function withLateMessages(one) {
    const { edge: process, lease_ms } = one
    const fault = { lost: 0, doubled: 0.5, delayed: 0.6, lasts_ms: lease_ms }
    return [
      { at_ms: 0, kind: 'messages', process, ...fault },
      one.calls(0, 700, 300, 12),
      one.kill(one.ms(10, 40)),
      one.reactivate(one.ms(60, 300)),
      one.kill(one.ms(300, 500)),
      one.reactivate(one.ms(500, 600)),
    ]
  },
  function withSlowReads(one) {
    const { edge: process } = one
    const to_ms = one.random.pick([120, 400])
    const roles: readonly Role[] = one.random.pick([['commands'], ['commands'], ['urgent']])
    const [first_ms, then_ms] = [one.ms(80, 200), one.ms(500, 600)]
    if (one.random.chance(0.5))
      return [
        { at_ms: 0, kind: 'slow', process, roles, to_ms, lasts_ms: 1200 },
        one.calls(0, 1200, 5, 20),
        ...Array.from({ length: 6 }, () => one.change(one.ms(0, 900))),
      ]
    return [
      { at_ms: 0, kind: 'slow', process, roles, to_ms, lasts_ms: 1200 },
      one.calls(0, 1000, 5, 20),
      one.kill(0),
      one.reactivate(first_ms),
      one.kill(first_ms + one.ms(5, 150)),
      one.reactivate(then_ms),
      one.kill(then_ms + one.ms(5, 150)),
      one.change(one.ms(0, 600)),
      one.change(one.ms(0, 600)),
    ]
  },
  function withAFailover(one) {
    const { random, edge: process } = one
    const lost_ms = random.pick([100, 300, 1000])
    const roles: readonly Role[] = random.chance(0.5) ? ['subscription'] : []
    const has_replica = random.chance(0.5)
    return [
      one.calls(0, lost_ms, 10, 50),
      one.kill(one.ms(0, 40)),
      one.reactivate(one.ms(60, 90)),
      { at_ms: 100, kind: 'failover', lost_ms, down_ms: one.ms(20, 600), has_replica },
      one.change(100 + one.ms(0, lost_ms)),
      one.kill(100 + one.ms(0, lost_ms)),
      { at_ms: 100 + lost_ms, kind: 'slow', process, roles, to_ms: 200, lasts_ms: 1_600 },
      one.change(100 + lost_ms + one.ms(600, 900)),
      one.kill(100 + lost_ms + one.ms(600, 900)),
      one.calls(100 + lost_ms + 600, 600, 10, 12),
    ]
  },
  function withLostMessages(one) {
    const { random, edge: process, lease_ms } = one
    const lost = random.pick([0.3, 0.6, 1])
    const lasts_ms = one.ms(0.3, 1.5) * lease_ms
    return [
      { at_ms: 20, kind: 'messages', process, lost, doubled: 0, delayed: 0, lasts_ms },
      one.calls(0, 20, 3 * lease_ms),
      one.calls(20, 2 * lease_ms, 5, lease_ms / 25),
      one.change(one.ms(20, lasts_ms)),
      one.change(one.ms(20, lasts_ms)),
      one.kill(one.ms(20, lasts_ms)),
    ]
  },
  function whileAnAdminCrashes(one) {
    const { random, admin } = one
    const process = one.processOf(random.chance(0.7) ? admin : 0)
    const at_ms = one.ms(0, 120)
    return [
      one.calls(0, 300, 500, 30),
      { at_ms: 0, kind: 'kill', admin, agent: one.agent },
      { at_ms, kind: 'crash', process, steps: random.whole(0, 25), down_ms: one.ms(5, 600) },
      one.kill(one.ms(0, 300)),
    ]
  },
  function whileTheStoreIsAway(one) {
    const lasts_ms = one.ms(50, 1500)
    return [
      one.kill(0),
      one.calls(0, 50, 5, 10),
      one.random.chance(0.5)
        ? { at_ms: 60, kind: 'pause', process: -1, lasts_ms }
        : { at_ms: 60, kind: 'cut off', process: one.edge, ways: ['up'], roles: ROLES, lasts_ms },
      one.calls(60, 300, 5, 20),
    ]
  },
  function withANewerAdmin(one) {
    const { random, admin, agent, edge: process, lease_ms } = one
    const roles: readonly Role[] = random.chance(0.8) ? ['commands'] : ROLES
    return [
      { at_ms: 0, kind: 'upgrade', process: one.processOf(admin) },
      one.calls(0, 100, 3 * lease_ms),
      { at_ms: 110, kind: 'errors', process, roles, lasts_ms: 0.9 * lease_ms },
      { at_ms: 110 + one.ms(1, 300), kind: 'kill', admin, agent },
      { at_ms: 110 + one.ms(1, 300), kind: 'rotate', admin },
      one.calls(150, lease_ms, 5, lease_ms / 20),
    ]
  },
  function atOnce(one) {
    const { random, edge: process } = one
    const lost = random.pick([0, 0.5])
    return [
      { at_ms: 45, kind: 'messages', process, lost, doubled: 0, delayed: 0, lasts_ms: 200 },
      one.calls(0, 300, 100, 10),
      ...Array.from({ length: random.whole(2, 5) }, () => one.change(one.ms(50, 54))),
      ...Array.from({ length: random.whole(1, 3) }, () => one.kill(one.ms(100, 103))),
      one.reactivate(one.ms(100, 110)),
    ]
  },
]

/** The store takes a heartbeat for older than it is, or has lost it, while its edge is cut off and serves until its lease is over. */
const CLOCK_SCENARIOS: Scenarios = [
  function withAStepOfTheStore(one) {
    const { random, edge: process, lease_ms } = one
    const step_ms = one.ms(60, 0.6 * lease_ms)
    const by_ms = random.pick([0.7 * lease_ms, 1.5 * lease_ms, 3_600_000, -3_600_000])
    return [
      one.calls(0, 40, 2.5 * lease_ms),
      one.calls(50, 1.2 * lease_ms, 5, lease_ms / 50),
      { at_ms: 45, kind: 'cut off', process, ways: BOTH, roles: ROLES, lasts_ms: 2 * lease_ms },
      { at_ms: step_ms, kind: 'clock', process: -1, by_ms },
      one.kill(step_ms + one.ms(0, 300)),
      one.change(step_ms + one.ms(0, 300)),
    ]
  },
  function withLostHeartbeats(one) {
    const { random, edge: process, lease_ms } = one
    // Its last heartbeat that is kept is as old as this.
    const before_ms = random.pick([0, 0.6]) * lease_ms
    const lost_ms = one.ms(0.3, 0.9) * lease_ms
    const down_ms = one.ms(10, 200)
    const cut_ms = before_ms + lost_ms - 5
    const cut = { kind: 'cut off', process, ways: BOTH, roles: ROLES } as const
    return [
      { ...cut, at_ms: 0, lasts_ms: before_ms + 20 },
      one.calls(before_ms + 100, lost_ms, 10, lost_ms / 30),
      { at_ms: before_ms, kind: 'failover', lost_ms, down_ms, has_replica: random.chance(0.3) },
      { ...cut, at_ms: cut_ms, lasts_ms: 1.5 * lease_ms },
      one.calls(cut_ms, 1.2 * lease_ms, 5, lease_ms / 50),
      one.kill(cut_ms + down_ms + one.ms(150, Math.max(200, lease_ms - 300))),
      one.change(cut_ms + down_ms + one.ms(150, Math.max(200, lease_ms - 300))),
    ]
  },
]

/** Steps of one scenario that follow each other from `from_ms`. */
export function drawScenario(size: Size, from_ms: number, isOfClock: boolean): readonly Step[] {
  const { random, subject } = size
  const scenarios =
    subject !== 'kills' ? SUBJECT_SCENARIOS[subject] : isOfClock ? CLOCK_SCENARIOS : SCENARIOS
  const steps = random.pick(scenarios)(new Scenario(size))
  return steps.map((step) => ({ ...step, at_ms: from_ms + step.at_ms }))
}
