import { type Agent, type Scope, SELECTED } from '../../core/catalogue/model.ts'
import { LEASE_MARGIN_MS } from '../../core/kill/lease-margin.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { agentId, ORG, ownScopeId, TEAM_SCOPE } from './deployment.ts'
import { CLOCK_ERROR_MS } from './lock-oracle.ts'
import { isFault, type Plan } from './plan.ts'
import type { SimCall } from './sim-call.ts'
import type { SimStore } from './sim-store.ts'
import { Violation, type World } from './world.ts'

/** For what an edge has heard to be done, and for drifting clocks. */
const SLACK_MS = 60
/** Running calls are looked at once a second at least, and decided again soon after; with faults, reads are repeated and slow. */
const REVIEWED_MS = 1_300
const REVIEWED_LATE_MS = 4_500
/** Faults that delay no review. */
const HARMLESS: ReadonlySet<string> = new Set(['clock', 'crash', 'upgrade'])

interface Version {
  readonly text: string
  readonly since_ms: number
  /** Since when it is answered that no older one counts. */
  answered_ms: number
}

/** What a call depends on, in one of the versions that an edge may have. */
interface Facts {
  readonly scope: Pick<Scope, 'not_before' | 'expires_at' | 'end_streams' | 'agent_selector'>
  /** Null: the scope is the agent's own. */
  readonly team: string | null
}

/**
 * Knows which scopes and labels the store has had, and since when each is in force everywhere. A call needs one of the versions that its
 * edge may have. It does not ask the product's code.
 */
export class ScopeOracle {
  readonly #world: World
  readonly #store: SimStore
  readonly #lease_ms: number
  readonly #reviewed_ms: number
  /** The clock of the store steps, so ends are not known exactly. */
  readonly #isStepped: boolean
  readonly #versions = new Map<string, Version[]>()
  readonly #places: readonly (readonly [key: string, field: string])[]

  constructor(world: World, store: SimStore, { agents, lease_ms, steps }: Plan) {
    this.#world = world
    this.#store = store
    this.#lease_ms = lease_ms
    const isDisturbed = steps.some((step) => isFault(step) && !HARMLESS.has(step.kind))
    this.#reviewed_ms = isDisturbed ? lease_ms + REVIEWED_LATE_MS : REVIEWED_MS
    this.#isStepped = steps.some((step) => step.kind === 'clock' && step.process === -1)
    this.#places = [
      [REDIS_KEYS.agentScopes(ORG, SELECTED), TEAM_SCOPE],
      ...Array.from({ length: agents }, (_, agent) => agent).flatMap((agent) => [
        [REDIS_KEYS.agentScopes(ORG, agentId(agent)), ownScopeId(agent)] as const,
        [REDIS_KEYS.agents(ORG), agentId(agent)] as const,
      ]),
    ]
  }

  look(): void {
    for (const [key, field] of this.#places) {
      const text = this.#store.model.run('HGET', [key, field]) as string
      const known = this.#versions.get(field) ?? []
      if (known.at(-1)?.text === text) continue
      this.#versions.set(field, [
        ...known,
        { text, since_ms: this.#world.now_ms, answered_ms: Number.POSITIVE_INFINITY },
      ])
    }
  }

  /** A change that has made this text is answered. */
  answered(field: string, text: string): void {
    const version = this.#versions.get(field)?.findLast((one) => one.text === text)
    if (version !== undefined)
      version.answered_ms = Math.min(version.answered_ms, this.#world.now_ms)
  }

  passed(call: SimCall): void {
    const from_ms = this.#wallMs(call.arrived_ms) - CLOCK_ERROR_MS
    const to_ms = this.#wallMs() + CLOCK_ERROR_MS
    const mayAllow = (facts: Facts): boolean => {
      const { from, until } = this.#windowOf(facts)
      return isSelected(facts) && from <= to_ms && until > from_ms
    }
    if (!this.#factsSince(call, call.arrived_ms).some(mayAllow))
      throw new Violation('scope: passed though none allows it', nameOf(call))
  }

  /** Whether a version that the edge may have had explains that a call was refused or cut. */
  explains(call: SimCall): boolean {
    const possible = this.#factsSince(call, call.arrived_ms)
    const from_ms = this.#wallMs(call.arrived_ms) - CLOCK_ERROR_MS
    const to_ms = this.#wallMs() + CLOCK_ERROR_MS
    const [only] = possible
    const runsOn = call.state === 'cut' && possible.length === 1 && only?.scope.end_streams !== true
    return possible.some((facts) => {
      const { from, until } = this.#windowOf(facts)
      // A call that was allowed outlives the end of its scope unless that was changed.
      return (
        !isSelected(facts) ||
        (!runsOn && (this.#isVague(facts) || from > from_ms || until <= to_ms))
      )
    })
  }

  /** A call that runs needs a version that lets it run on. */
  goesOn(call: SimCall): void {
    const before_ms = this.#world.now_ms - this.#reviewed_ms
    if (before_ms < call.decided_ms) return
    const wall_ms = this.#wallMs(before_ms) - CLOCK_ERROR_MS
    const admitting = this.#factsSince(call, call.arrived_ms, call.decided_ms)
    const letsRun = (facts: Facts): boolean => {
      const { not_before, expires_at, end_streams } = facts.scope
      if (!isSelected(facts)) return false
      const { from, until } = this.#windowOf(facts)
      if (until > wall_ms && from <= this.#wallMs()) return true
      const isAsAdmitted = admitting.some(
        ({ scope }) => scope.not_before === not_before && scope.expires_at === expires_at,
      )
      return isAsAdmitted && end_streams !== true
    }
    if (!this.#factsSince(call, before_ms).some(letsRun))
      throw new Violation('scope: a call goes on that none allows', nameOf(call))
  }

  /** What the store says of a call now. */
  verdict(call: SimCall): 'open' | 'closed' | 'unknown' {
    const facts = this.#factsNow(call)
    if (!isSelected(facts)) return 'closed'
    if (this.#isVague(facts)) return 'unknown'
    const [early_ms, late_ms] = [CLOCK_ERROR_MS, -CLOCK_ERROR_MS - 100].map(
      (by_ms) => this.#wallMs() - by_ms,
    ) as [number, number]
    const { from, until } = this.#windowOf(facts)
    if (from <= early_ms && until > late_ms) return 'open'
    return from > late_ms || until <= early_ms ? 'closed' : 'unknown'
  }

  /** By the clock of the store. */
  #wallMs(at_ms = this.#world.now_ms): number {
    return this.#store.process.wallMs() - (this.#world.now_ms - at_ms)
  }

  #isVague({ scope }: Facts): boolean {
    return this.#isStepped && (scope.not_before ?? scope.expires_at ?? null) !== null
  }

  #windowOf(facts: Facts): { readonly from: number; readonly until: number } {
    const { not_before = null, expires_at = null } = facts.scope
    const [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    if (this.#isVague(facts)) return { from, until }
    return {
      from: not_before === null ? from : Date.parse(not_before),
      until: expires_at === null ? until : Date.parse(expires_at),
    }
  }

  /** All that an edge may have known at a moment or later, until another. */
  #factsSince(call: SimCall, since_ms: number, until_ms = this.#world.now_ms): Facts[] {
    const { agent, path } = call.step
    const texts = (field: string): string[] => this.#possible(field, since_ms, until_ms)
    if (path !== 'team') return texts(ownScopeId(agent)).map((text) => factsOf(text, null))
    return texts(TEAM_SCOPE).flatMap((scope) =>
      texts(agentId(agent)).map((text) => factsOf(scope, text)),
    )
  }

  #factsNow({ step: { agent, path } }: SimCall): Facts {
    const text = (field: string): string => this.#versions.get(field)?.at(-1)?.text ?? ''
    return path === 'team'
      ? factsOf(text(TEAM_SCOPE), text(agentId(agent)))
      : factsOf(text(ownScopeId(agent)), null)
  }

  /** An older version does not count once a newer one is answered, or no edge that has missed it can have a lease. */
  #possible(field: string, since_ms: number, until_ms: number): string[] {
    const all = this.#versions.get(field) ?? []
    const texts = new Set<string>()
    let replaced_ms = Number.POSITIVE_INFINITY
    for (const { text, since_ms: stored_ms, answered_ms } of [...all].reverse()) {
      if (stored_ms <= until_ms && replaced_ms > since_ms) texts.add(text)
      const limit_ms = stored_ms + this.#lease_ms + LEASE_MARGIN_MS + SLACK_MS
      replaced_ms = Math.min(replaced_ms, answered_ms, limit_ms)
    }
    return [...texts]
  }
}

const factsOf = (scope: string, agent: string | null): Facts => ({
  scope: JSON.parse(scope) as Scope,
  team: agent === null ? null : ((JSON.parse(agent) as Agent).labels?.['team'] ?? ''),
})

const isSelected = ({ scope, team }: Facts): boolean =>
  team === null || scope.agent_selector?.match_labels['team'] === team

const nameOf = ({ edge, request_id, step }: SimCall): string =>
  `${edge.process.name}, ${request_id} of ${agentId(step.agent)}: ${step.path}`
