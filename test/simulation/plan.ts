import { LOCK_MODES, LOCK_TARGETS, type LockMode } from '../../core/catalogue/model.ts'
import type { Role } from './network.ts'
import { Random } from './random.ts'
import { drawScenario, type Size, SOME_ROLES } from './scenarios.ts'
import { drawWindow, TEAMS } from './scope-scenarios.ts'
import { PROVIDER_FAULTS, type ProviderFault, SUBJECTS, type Subject } from './subject.ts'

/** What is done to the simulated deployment at a moment. Processes and agents are named by their numbers. */
export type Step = { readonly at_ms: number } /** Some calls, one after the other. */ & (
  | {
      readonly kind: 'calls'
      readonly edge: number
      readonly agent: number
      readonly key: number
      readonly count: number
      readonly every_ms: number
      /** How long the response of each takes. */
      readonly lasts_ms: number
      readonly path: 'open' | 'data' | 'asked' | 'team'
      /** GET if absent. */
      readonly method?: 'POST'
      /** Under `asked`: which of several calls it is, and how long it waits for the decision. */
      readonly item?: number
      readonly wait_s?: number
    }
  | { readonly kind: 'kill' | 'reactivate'; readonly admin: number; readonly agent: number }
  | { readonly kind: 'automatic kill'; readonly edge: number; readonly agent: number }
  | { readonly kind: 'rotate'; readonly admin: number }
  /** The same request at two admin processes, with one Idempotency-Key. */
  | { readonly kind: 'rotate twice'; readonly admin: number }
  | { readonly kind: 'scope'; readonly admin: number; readonly agent: number }
  | { readonly kind: 'revoke'; readonly admin: number; readonly agent: number }
  | {
      readonly kind: 'lock'
      readonly admin: number
      readonly agent: number
      readonly target: LockKind
      readonly mode: LockMode
      /** After which it ends; null: it does not. */
      readonly for_ms: number | null
    }
  /** Of the locks that there are, the one with this number, as far as they go round. */
  | { readonly kind: 'unlock'; readonly admin: number; readonly which: number }
  /** When the own scope of an agent, or the one that selects agents, begins and ends from then on, after now; null: it does not. */
  | {
      readonly kind: 'window'
      readonly admin: number
      readonly agent: number
      readonly scope: 'own' | 'team'
      readonly from_ms: number | null
      readonly until_ms: number | null
      readonly end_streams: boolean
    }
  /** The label of an agent changes. */
  | {
      readonly kind: 'label'
      readonly admin: number
      readonly agent: number
      readonly team: string | null
    }
  /** The scope that selects agents selects others. */
  | { readonly kind: 'select'; readonly admin: number; readonly team: string }
  /** All requests of the agent that are open. */
  | {
      readonly kind: 'approve' | 'deny' | 'cancel'
      readonly admin: number
      readonly agent: number
    }
  /** Calls that need the access token of the connection. */
  | {
      readonly kind: 'tokens'
      readonly edge: number
      readonly count: number
      readonly every_ms: number
    }
  /** An operator consents to the connection again. */
  | { readonly kind: 'consent'; readonly admin: number }
  /** What goes wrong between the gateway and the OAuth provider. */
  | { readonly kind: 'provider'; readonly fails: ProviderFault; readonly lasts_ms: number }
  | {
      readonly kind: 'cut off'
      readonly process: number
      readonly ways: readonly ('up' | 'down')[]
      readonly roles: readonly Role[]
      readonly lasts_ms: number
    }
  | {
      readonly kind: 'messages'
      readonly process: number
      readonly lost: number
      readonly doubled: number
      readonly delayed: number
      readonly lasts_ms: number
    }
  | {
      readonly kind: 'slow'
      readonly process: number
      readonly roles: readonly Role[]
      readonly to_ms: number
      readonly lasts_ms: number
    }
  | {
      readonly kind: 'errors'
      readonly process: number
      readonly roles: readonly Role[]
      readonly lasts_ms: number
    }
  /** Of a process; -1 is the store. */
  | { readonly kind: 'pause'; readonly process: number; readonly lasts_ms: number }
  /** Ends after so many more steps of it, and starts again. */
  | {
      readonly kind: 'crash'
      readonly process: number
      readonly steps: number
      readonly down_ms: number
    }
  /** The store starts again with what it had so long ago, as after a failover or a restored backup. */
  | {
      readonly kind: 'failover'
      readonly lost_ms: number
      readonly down_ms: number
      readonly has_replica: boolean
    }
  /** The clock of the day; -1 is that of the store. */
  | { readonly kind: 'clock'; readonly process: number; readonly by_ms: number }
  /** From now on an admin process announces what it does as a newer version does, by targets that this one does not know. */
  | { readonly kind: 'upgrade'; readonly process: number }
)

export type LockKind = (typeof LOCK_TARGETS)[number]
const FAULTS = [
  'cut off',
  'messages',
  'slow',
  'errors',
  'pause',
  'crash',
  'failover',
  'clock',
  'upgrade',
  'provider',
] as const
/** The first subject draws what it drew before there were others. */
const FAULTS_OF_KILLS = FAULTS.slice(0, -1)

export type Fault = Extract<Step, { kind: (typeof FAULTS)[number] }>

export const isFault = (step: Step): step is Fault => FAULTS.some((kind) => kind === step.kind)

export interface Plan {
  /** Of what happens by chance. */
  readonly seed: number
  readonly subject: Subject
  /** How the OAuth provider is: whether it tells of a token if it is active, and how long it takes a replaced one. */
  readonly provider: { readonly introspects: boolean; readonly reuse_s: number }
  readonly edges: number
  readonly admins: number
  readonly agents: number
  readonly lease_ms: number
  /** When the faults end. */
  readonly calm_ms: number
  /** How much faster each monotonic clock goes, of edges, then admins, then the store. */
  readonly drifts: readonly number[]
  readonly steps: readonly Step[]
}

const LEASES_MS = [800, 800, 1200, 1800, 3000]
/** Real clocks differ by some ten millionths; this is what `LEASE_MARGIN_MS` covers many times. */
const DRIFT_MAX = 0.001
const STEPS_MS = [-3_600_000, -5000, -300, 300, 5000, 3_600_000]
/** When most things happen that happen together. */
const MOMENTS_MAX = 5
const MOMENT_MS = 12
const SCENARIO_EXTRAS_MAX = 4
/** One seed of so many has a scenario in which the store is wrong about time. */
const CLOCK_SEEDS = 7

/** When a step is over, calls aside. */
const endOf = (step: Step): number => {
  if (step.kind === 'calls') return step.at_ms + step.count * step.every_ms
  if (step.kind === 'failover') return step.at_ms + step.lost_ms + step.down_ms
  return (
    step.at_ms + ('lasts_ms' in step ? step.lasts_ms : 'down_ms' in step ? 2 * step.down_ms : 0)
  )
}

/** The seeds of each subject begin at a multiple of this. */
export const SUBJECT_SEEDS = 1_000_000

/** The n-th of the seeds that are run by turns, so many of each subject. */
export function seedOfTurn(n: number): number {
  const subject = TURNS[n % TURNS.length] ?? 'kills'
  return SUBJECTS.indexOf(subject) * SUBJECT_SEEDS + n
}
const TURNS: readonly Subject[] = [
  'kills',
  'locks',
  'kills',
  'scopes',
  'approvals',
  'kills',
  'refresh',
]

/**
 * A plan that follows from a number. `keep`: without all steps but these, as a shrunk plan is. `world`: another seed for what happens
 * by chance while it runs.
 */
export function planOfSeed(
  seed: number,
  keep: readonly number[] | null = null,
  world = seed,
): Plan {
  const random = new Random(seed)
  const subject = SUBJECTS[Math.floor(seed / SUBJECT_SEEDS)] ?? 'kills'
  const edges = random.pick([1, 2, 2, 3])
  const admins = random.pick([1, 2, 2])
  const agents = random.pick([1, 1, 2, 3])
  const lease_ms = random.pick(LEASES_MS)
  const drifts = Array.from({ length: edges + admins + 1 }, () =>
    random.between(-DRIFT_MAX, DRIFT_MAX),
  )
  // The others draw what they drew before there were these.
  const isOfClock = seed % CLOCK_SEEDS === CLOCK_SEEDS - 1
  const size = { random, subject, edges, admins, agents, lease_ms }
  const scenario = random.chance(0.6) ? drawScenario(size, random.between(300, 900), isOfClock) : []
  const last_ms = Math.max(0, ...scenario.map(endOf))
  const calm_ms = Math.max(last_ms, random.pick(scenario.length > 0 ? [0] : [1500, 2500, 4000]))
  const moments_ms = Array.from({ length: random.whole(1, MOMENTS_MAX) }, () =>
    random.between(250, calm_ms),
  )
  const drawn = { ...size, calm_ms, moments_ms, together: random.pick([0, 0.5, 0.9]) }
  // Each seed has a few kinds of faults and of work: with all at once, nothing but refusals would happen.
  const faults = FAULTS_OF[subject].filter(() => random.chance(0.3))
  const work = WORK[subject].filter(() => random.chance(0.7))
  // A scenario is disturbed by little else.
  const most = scenario.length > 0 ? SCENARIO_EXTRAS_MAX : 20
  const count = (kinds: readonly unknown[], max: number): number =>
    kinds.length === 0 ? 0 : random.whole(0, max)
  const steps = [
    ...scenario,
    ...Array.from({ length: scenario.length > 0 ? 1 : random.whole(2, 7) }, () =>
      aStep(drawn, subject === 'refresh' ? 'tokens' : 'calls'),
    ),
    ...Array.from({ length: count(work, most) }, () => aStep(drawn, random.pick(work))),
    ...Array.from({ length: count(faults, scenario.length > 0 ? 2 : 8) }, () =>
      aStep(drawn, random.pick(faults)),
    ),
  ].sort((a, b) => a.at_ms - b.at_ms)
  const kept = keep === null ? steps : keep.flatMap((i) => steps[i] ?? [])
  const provider = { introspects: random.chance(0.5), reuse_s: random.pick([0, 0, 1]) }
  const drawnSize = { subject, provider, edges, admins, agents, lease_ms, calm_ms, drifts }
  return { seed: world, ...drawnSize, steps: kept }
}

/** What the calls of a subject are for. */
export function drawPath(
  random: Random,
  subject: Subject,
): Pick<Extract<Step, { kind: 'calls' }>, 'path' | 'method' | 'item' | 'wait_s'> {
  switch (subject) {
    case 'kills':
    case 'refresh':
      return { path: random.pick(['open', 'data'] as const) }
    case 'locks':
      return {
        path: random.pick(['open', 'data'] as const),
        ...(random.chance(0.5) ? { method: 'POST' } : {}),
      }
    case 'scopes':
      return { path: random.pick(['open', 'team'] as const) }
    case 'approvals':
      return { path: 'asked', item: random.whole(0, 1), wait_s: random.pick([0, 0, 1]) }
  }
}

interface Drawn extends Size {
  readonly calm_ms: number
  readonly moments_ms: readonly number[]
  /** How likely it is that something happens at one of the moments. */
  readonly together: number
}

const times = (kinds: Partial<Record<Step['kind'], number>>): readonly Step['kind'][] =>
  Object.entries(kinds).flatMap(([kind, count]) =>
    Array.from({ length: count }, () => kind as Step['kind']),
  )

const WORK: Readonly<Record<Subject, readonly Step['kind'][]>> = {
  kills: times({
    kill: 4,
    reactivate: 2,
    'automatic kill': 1,
    rotate: 2,
    'rotate twice': 1,
    scope: 2,
    revoke: 1,
  }),
  locks: times({ lock: 5, unlock: 3, kill: 1, reactivate: 1, scope: 1, rotate: 1 }),
  approvals: times({
    calls: 4,
    approve: 6,
    deny: 1,
    cancel: 1,
    kill: 2,
    reactivate: 2,
    scope: 1,
    rotate: 1,
  }),
  refresh: times({ tokens: 5, consent: 1, rotate: 1 }),
  scopes: times({ window: 5, label: 4, select: 2, rotate: 1, kill: 1, reactivate: 1 }),
}

const FAULTS_OF: Readonly<Record<Subject, readonly Fault['kind'][]>> = {
  kills: FAULTS_OF_KILLS,
  locks: FAULTS_OF_KILLS,
  approvals: FAULTS_OF_KILLS,
  scopes: FAULTS_OF_KILLS,
  refresh: [...FAULTS.filter((kind) => kind !== 'upgrade'), 'provider', 'crash'],
}

function aStep(
  { random, subject, edges, admins, agents, lease_ms, calm_ms, moments_ms, together }: Drawn,
  kind: Step['kind'],
): Step {
  const at_ms =
    kind !== 'calls' && random.chance(together)
      ? Math.min(calm_ms, random.pick(moments_ms) + random.between(0, MOMENT_MS))
      : Math.round(random.between(250, calm_ms))
  const edge = random.whole(0, edges - 1)
  const admin = random.whole(0, admins - 1)
  const agent = random.whole(0, agents - 1)
  const process = random.whole(0, edges + admins - 1)
  const lasts_ms = Math.round(random.between(50, 2.2 * lease_ms))
  switch (kind) {
    case 'calls':
      return {
        at_ms,
        kind,
        edge,
        agent,
        key: random.whole(0, 1),
        count: random.whole(1, 40),
        every_ms: random.pick([3, 15, 60]),
        lasts_ms: random.chance(0.7) ? random.whole(1, 30) : random.whole(100, 6000),
        ...drawPath(random, subject),
      }
    case 'kill':
    case 'reactivate':
    case 'scope':
    case 'revoke':
      return { at_ms, kind, admin, agent }
    case 'lock':
      return {
        at_ms,
        kind,
        admin,
        agent,
        target: random.pick(LOCK_TARGETS),
        mode: random.pick(LOCK_MODES),
        for_ms: random.chance(0.3) ? random.whole(100, 3000) : null,
      }
    case 'unlock':
      return { at_ms, kind, admin, which: random.whole(0, 3) }
    case 'window':
      return { at_ms, kind, admin, agent, ...drawWindow(random) }
    case 'label':
      return { at_ms, kind, admin, agent, team: random.pick(TEAMS) }
    case 'select':
      return { at_ms, kind, admin, team: random.pick(TEAMS) ?? 'even' }
    case 'approve':
    case 'deny':
    case 'cancel':
      return { at_ms, kind, admin, agent }
    case 'tokens':
      return { at_ms, kind, edge, count: random.whole(1, 12), every_ms: random.pick([5, 40, 150]) }
    case 'consent':
      return { at_ms, kind, admin }
    case 'provider':
      return { at_ms, kind, fails: random.pick(PROVIDER_FAULTS), lasts_ms }
    case 'automatic kill':
      return { at_ms, kind, edge, agent }
    case 'rotate':
    case 'rotate twice':
      return { at_ms, kind, admin }
    case 'cut off':
      return {
        at_ms,
        kind,
        process,
        ways: random.pick([['up'], ['down'], ['up', 'down']] as const),
        roles: random.pick(SOME_ROLES),
        lasts_ms,
      }
    case 'messages':
      return {
        at_ms,
        kind,
        process,
        lost: random.pick([0, 0.3, 1]),
        doubled: random.pick([0, 0.5]),
        delayed: random.pick([0, 0.5]),
        lasts_ms,
      }
    case 'slow':
      return {
        at_ms,
        kind,
        process,
        roles: random.pick(SOME_ROLES),
        to_ms: random.pick([20, 120, 400]),
        lasts_ms,
      }
    case 'errors':
      return { at_ms, kind, process, roles: random.pick(SOME_ROLES), lasts_ms }
    case 'pause':
      return { at_ms, kind, process: random.chance(0.2) ? -1 : process, lasts_ms }
    case 'crash':
      return { at_ms, kind, process, steps: random.whole(0, 25), down_ms: random.whole(10, 1500) }
    case 'failover':
      return {
        at_ms,
        kind,
        lost_ms: random.pick([0, 30, 300, 1000, 4000]),
        down_ms: random.whole(20, 1200),
        has_replica: random.chance(0.5),
      }
    case 'clock': {
      const whose = random.chance(0.4) ? -1 : process
      return { at_ms, kind, process: whose, by_ms: random.pick(STEPS_MS) }
    }
    case 'upgrade':
      return { at_ms, kind, process: edges + admin }
  }
}
