import { Random } from './random.ts'

/** What is done to the simulated deployment at a moment. Processes and agents are named by their numbers. */
export type Step = { readonly at_ms: number } & (
  | {
      readonly kind: 'call'
      readonly edge: number
      readonly agent: number
      readonly key: number
      /** How long its response takes. */
      readonly lasts_ms: number
      readonly path: 'open' | 'data'
    }
  | { readonly kind: 'kill' | 'reactivate'; readonly admin: number; readonly agent: number }
  | { readonly kind: 'automatic kill'; readonly edge: number; readonly agent: number }
  /** `newer`: announced as a newer version does, by a target that this one does not know. */
  | { readonly kind: 'rotate'; readonly admin: number; readonly is_newer: boolean }
  /** The same request at two admin processes, with one Idempotency-Key. */
  | { readonly kind: 'rotate twice'; readonly admin: number }
  | { readonly kind: 'scope'; readonly admin: number; readonly agent: number }
  | { readonly kind: 'revoke'; readonly admin: number; readonly agent: number }
  | {
      readonly kind: 'cut off'
      readonly process: number
      readonly ways: readonly ('up' | 'down')[]
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
      readonly to_ms: number
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
)

const FAULTS = ['cut off', 'messages', 'slow', 'pause', 'crash', 'failover', 'clock'] as const

export type Fault = Extract<Step, { kind: (typeof FAULTS)[number] }>

export const isFault = (step: Step): step is Fault => FAULTS.some((kind) => kind === step.kind)

export interface Plan {
  readonly seed: number
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

const LEASES_MS = [800, 1200, 1800, 3000]
/** Real clocks differ by some ten millionths; this is what `LEASE_MARGIN_MS` covers many times. */
const DRIFT_MAX = 0.001

/** A plan that follows from a number. `keep`: without all steps but these, as a shrunk plan is. */
export function planOfSeed(seed: number, keep: readonly number[] | null = null): Plan {
  const random = new Random(seed)
  const edges = random.pick([1, 2, 2, 3, 3])
  const admins = random.pick([1, 2, 2])
  const agents = random.pick([1, 2, 3])
  const lease_ms = random.pick(LEASES_MS)
  const calm_ms = random.pick([1500, 2500, 4000])
  const drifts = Array.from({ length: edges + admins + 1 }, () =>
    random.between(-DRIFT_MAX, DRIFT_MAX),
  )
  const size = { random, edges, admins, agents, lease_ms, calm_ms }
  // Each seed has a few kinds of faults only: with all at once, nothing but refusals would happen.
  const faults = FAULTS.filter(() => random.chance(0.35))
  const steps = [
    ...Array.from({ length: random.whole(8, 36) }, () => aStep(size, random.pick(WORK))),
    ...Array.from({ length: faults.length === 0 ? 0 : random.whole(1, 8) }, () =>
      aStep(size, random.pick(faults)),
    ),
  ].sort((a, b) => a.at_ms - b.at_ms)
  const kept = keep === null ? steps : keep.flatMap((i) => steps[i] ?? [])
  return { seed, edges, admins, agents, lease_ms, calm_ms, drifts, steps: kept }
}

interface Size {
  readonly random: Random
  readonly edges: number
  readonly admins: number
  readonly agents: number
  readonly lease_ms: number
  readonly calm_ms: number
}

const WORK: readonly Step['kind'][] = [
  'call',
  'call',
  'call',
  'call',
  'call',
  'call',
  'call',
  'kill',
  'kill',
  'kill',
  'kill',
  'reactivate',
  'reactivate',
  'automatic kill',
  'rotate',
  'rotate',
  'rotate twice',
  'scope',
  'scope',
  'revoke',
]

function aStep(
  { random, edges, admins, agents, lease_ms, calm_ms }: Size,
  kind: Step['kind'],
): Step {
  const at_ms = Math.round(random.between(250, calm_ms))
  const edge = random.whole(0, edges - 1)
  const admin = random.whole(0, admins - 1)
  const agent = random.whole(0, agents - 1)
  const process = random.whole(0, edges + admins - 1)
  const lasts_ms = Math.round(random.between(50, 2.2 * lease_ms))
  switch (kind) {
    case 'call':
      return {
        at_ms,
        kind,
        edge,
        agent,
        key: random.whole(0, 1),
        lasts_ms: random.chance(0.5) ? random.whole(1, 30) : random.whole(100, 6000),
        path: random.pick(['open', 'data'] as const),
      }
    case 'kill':
    case 'reactivate':
    case 'scope':
    case 'revoke':
      return { at_ms, kind, admin, agent }
    case 'automatic kill':
      return { at_ms, kind, edge, agent }
    case 'rotate':
      return { at_ms, kind, admin, is_newer: random.chance(0.3) }
    case 'rotate twice':
      return { at_ms, kind, admin }
    case 'cut off':
      return {
        at_ms,
        kind,
        process,
        ways: random.pick([['up'], ['down'], ['up', 'down']] as const),
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
      return { at_ms, kind, process, to_ms: random.pick([20, 120, 400]), lasts_ms }
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
    case 'clock':
      return {
        at_ms,
        kind,
        process: random.chance(0.4) ? -1 : process,
        by_ms: random.pick([-3_600_000, -5000, -300, 300, 5000, 3_600_000]),
      }
  }
}
