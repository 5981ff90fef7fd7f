import type { ScopeScore } from './anomaly-type.ts'
import type { ObservedCall } from './observed-call.ts'
import { TICK_MS } from './rate-signs.ts'
import { ScopeModel, type ScopeModelState } from './scope-model.ts'

/** Maximum number of scopes per organization; above it, the one inactive for longest is dropped. */
const SCOPES_MAX = 5000
/** A scope with at least this score continues to be scored without calls. */
const WATCHED_SCORE = 0.2
/** Learning time before the first score: one day for the daily pattern, one for its variation. */
export const LEARNING_MS = 48 * 3_600_000

export interface AnomalyModelOptions {
  readonly learning_ms?: number
  readonly scopes_max?: number
  /** Whether the scope is watched; decides to which scope a refusal without one is assigned. */
  readonly isWatched?: (agent_id: string, scope_id: string) => boolean
  readonly onScore?: (score: ScopeScore) => void
}

/** The scope to which a call is assigned. */
export interface CountedCall extends ObservedCall {
  readonly scope_id: string
}

const hasScope = (call: ObservedCall): call is CountedCall => call.scope_id !== null

export type ScopeKey = `${string} ${string}`
export const scopeKey = (agent_id: string, scope_id: string): ScopeKey => `${agent_id} ${scope_id}`

interface Entry {
  readonly agent_id: string
  readonly scope_id: string
  readonly model: ScopeModel
}

/**
 * Learns the usual traffic of every scope from its calls and scores each every few seconds.
 * It has no clock: `observe` and `advance` carry the time, which never goes back.
 */
export class AnomalyModel {
  readonly #options: AnomalyModelOptions
  readonly #learning_ms: number
  readonly #scopes = new Map<ScopeKey, Entry>()
  readonly #agents = new Map<string, Map<string, Entry>>()
  /** Scopes that the next tick scores. */
  #active = new Map<ScopeKey, Entry>()
  #changed = new Set<ScopeKey>()
  #removed = new Set<ScopeKey>()
  #tick_ms = 0

  constructor(options: AnomalyModelOptions = {}) {
    this.#options = options
    this.#learning_ms = options.learning_ms ?? LEARNING_MS
  }

  get size(): number {
    return this.#scopes.size
  }

  scope(agent_id: string, scope_id: string): ScopeModel | undefined {
    return this.#scopes.get(scopeKey(agent_id, scope_id))?.model
  }

  *scopes(): Generator<Entry> {
    yield* this.#scopes.values()
  }

  get tick_ms(): number {
    return this.#tick_ms
  }

  /** Assigns a refusal without a scope to one of the agent's scopes; null if none is known. */
  place(call: ObservedCall): CountedCall | null {
    if (hasScope(call)) return call
    const scope_id = this.#homeOf(call)?.scope_id
    return scope_id === undefined ? null : { ...call, scope_id }
  }

  /** Adds a call. Past times are counted in their slots, as far as windows reach back. */
  observe(call: CountedCall, at_ms: number): void {
    this.advance(at_ms)
    const key = scopeKey(call.agent_id, call.scope_id)
    const entry =
      this.#scopes.get(key) ??
      this.#add(call.agent_id, call.scope_id, new ScopeModel(at_ms, this.#learning_ms))
    if (!this.#active.has(key)) {
      entry.model.advance(this.#tick_ms)
      this.#active.set(key, entry)
    }
    entry.model.observe(call, at_ms)
    this.#changed.add(key)
  }

  /** Scores what is due up to the time. */
  advance(to_ms: number): void {
    const last = Math.floor(to_ms / TICK_MS) * TICK_MS
    // Time begins with the first call.
    if (this.#tick_ms === 0) this.#tick_ms = last
    while (this.#tick_ms < last) {
      // Without calls nothing changes until the next one.
      this.#tick_ms = this.#active.size === 0 ? last : this.#tick_ms + TICK_MS
      this.#tick()
    }
  }

  /** Resets the current state of an agent, not its baseline, in all its scopes except the given ones. */
  calmDown(agent_id: string, isSpared: (scope_id: string) => boolean = () => false): void {
    for (const [scope_id, { model }] of this.#agents.get(agent_id) ?? []) {
      if (isSpared(scope_id)) continue
      model.advance(this.#tick_ms)
      model.calmDown()
      this.#changed.add(scopeKey(agent_id, scope_id))
    }
  }

  /** Scopes that have changed or were dropped since the last call. */
  takeChanges(): { readonly saved: readonly ScopeKey[]; readonly removed: readonly ScopeKey[] } {
    const changes = { saved: [...this.#changed], removed: [...this.#removed] }
    this.#changed = new Set()
    this.#removed = new Set()
    return changes
  }

  /** Continues from a stored time; scopes that were stored later wait until their time is reached. */
  resumeAt(tick_ms: number): void {
    this.#tick_ms = tick_ms
  }

  /** Restores a stored scope. */
  restore(agent_id: string, scope_id: string, state: ScopeModelState): void {
    const model = new ScopeModel(state.first_ms, this.#learning_ms, state)
    const entry = this.#add(agent_id, scope_id, model)
    if (model.has_news || model.score >= WATCHED_SCORE)
      this.#active.set(scopeKey(agent_id, scope_id), entry)
  }

  forget(agent_id: string, scope_id: string): void {
    const entry = this.#scopes.get(scopeKey(agent_id, scope_id))
    if (entry !== undefined) this.#drop(entry)
  }

  #tick(): void {
    for (const [key, entry] of this.#active) {
      const { model, agent_id, scope_id } = entry
      if (model.tick_ms >= this.#tick_ms) continue
      model.advance(this.#tick_ms)
      const score = model.evaluate()
      this.#changed.add(key)
      if (score < WATCHED_SCORE) this.#active.delete(key)
      this.#options.onScore?.({
        agent_id,
        scope_id,
        at_ms: this.#tick_ms,
        learning: model.learning,
        score,
        types: model.types,
        normal_rpm: model.normalRpm(),
        current_rpm: model.current_rpm,
      })
    }
  }

  /**
   * The scope for a refusal without one: a watched scope of the same integration, the one known for longest.
   * The choice does not depend on the order of calls, so it is the same when a log is read again.
   */
  #homeOf({ agent_id, integration_id }: ObservedCall): Entry | null {
    let best: Entry | null = null
    let best_rank = -1
    for (const entry of this.#agents.get(agent_id)?.values() ?? []) {
      const is_watched = this.#options.isWatched?.(agent_id, entry.scope_id) ?? true
      const is_same = integration_id !== null && entry.model.integration_id === integration_id
      const rank = (is_watched ? 2 : 0) + (is_same ? 1 : 0)
      const is_older = best !== null && entry.model.first_ms < best.model.first_ms
      if (rank > best_rank || (rank === best_rank && is_older)) [best, best_rank] = [entry, rank]
    }
    return best
  }

  #add(agent_id: string, scope_id: string, model: ScopeModel): Entry {
    const entry = { agent_id, scope_id, model }
    const key = scopeKey(agent_id, scope_id)
    if (this.#scopes.size >= (this.#options.scopes_max ?? SCOPES_MAX)) this.#dropSilent()
    this.#scopes.set(key, entry)
    this.#removed.delete(key)
    const scopes = this.#agents.get(agent_id) ?? new Map<string, Entry>()
    scopes.set(scope_id, entry)
    this.#agents.set(agent_id, scopes)
    return entry
  }

  #dropSilent(): void {
    let silent: Entry | null = null
    for (const entry of this.#scopes.values())
      if (silent === null || entry.model.tick_ms < silent.model.tick_ms) silent = entry
    if (silent !== null) this.#drop(silent)
  }

  #drop({ agent_id, scope_id }: Entry): void {
    const key = scopeKey(agent_id, scope_id)
    this.#scopes.delete(key)
    this.#active.delete(key)
    this.#changed.delete(key)
    this.#removed.add(key)
    const scopes = this.#agents.get(agent_id)
    scopes?.delete(scope_id)
    if (scopes?.size === 0) this.#agents.delete(agent_id)
  }
}
