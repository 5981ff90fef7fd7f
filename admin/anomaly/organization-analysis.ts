import { msOfPlace } from '../../core/activity/log-place.ts'
import type { PlacedText } from '../../core/activity/log-row.ts'
import { AnomalyModel, type ScopeKey, scopeKey } from '../../core/anomaly/anomaly-model.ts'
import type { ScopeScore } from '../../core/anomaly/anomaly-type.ts'
import type { Incident } from '../../core/anomaly/incident.ts'
import { type ObservedCall, observedCall } from '../../core/anomaly/observed-call.ts'
import { type ObservedEntry, readObserved } from '../../core/anomaly/read-observed.ts'
import { isAfter, STATE_FORM, type StoredPosition, type StoredScope } from './stored-scope.ts'

/** The clock of an edge may be ahead of the store's by so much; what claims to be later is of that time. */
const AHEAD_MAX_MS = 5000

export interface StreamEntry {
  readonly position: string
  readonly entry: ObservedEntry
}

/** The model of one organization and the position in its log up to which it has learned. */
export class OrganizationAnalysis {
  readonly model: AnomalyModel
  readonly incidents = new Map<ScopeKey, Incident>()
  #position: string
  /** Scopes that were stored after the rest: their calls up to that place are in the model already. */
  readonly #ahead = new Map<ScopeKey, string>()
  #scores: ScopeScore[] = []
  /** Of the latest entry, and its time: at thousands of calls per second several have the same. */
  #timestamp = ''
  #made_ms = Number.NaN

  constructor(
    stored: StoredPosition | null,
    begin: string,
    isWatched: (agent_id: string, scope_id: string) => boolean,
  ) {
    this.#position = stored?.position ?? begin
    this.model = new AnomalyModel({ isWatched, onScore: (score) => this.#keep(score) })
    this.model.resumeAt(stored?.tick_ms ?? 0)
  }

  get position(): string {
    return this.#position
  }

  restore(key: ScopeKey, stored: StoredScope): void {
    const [agent_id = '', scope_id = ''] = key.split(' ')
    this.model.restore(agent_id, scope_id, stored.model)
    if (stored.incident !== null) this.incidents.set(key, stored.incident)
    if (isAfter(stored.position, this.#position)) this.#ahead.set(key, stored.position)
  }

  /** Learns the next entry of the log. */
  take({ position, entry }: StreamEntry): void {
    this.#take(position, entry)
    this.#position = position
  }

  /** Scores above zero since the last call, in order. */
  takeScores(): readonly ScopeScore[] {
    const scores = this.#scores
    this.#scores = []
    return scores
  }

  stored(key: ScopeKey): StoredScope | null {
    const [agent_id = '', scope_id = ''] = key.split(' ')
    const model = this.model.scope(agent_id, scope_id)?.state
    if (model === undefined) return null
    const ahead = this.#ahead.get(key)
    const position = ahead !== undefined && isAfter(ahead, this.#position) ? ahead : this.#position
    return { form: STATE_FORM, position, model, incident: this.incidents.get(key) ?? null }
  }

  storedPosition(): StoredPosition {
    return { form: STATE_FORM, position: this.#position, tick_ms: this.model.tick_ms }
  }

  #take(position: string, entry: ObservedEntry): void {
    if (entry.event === 'agent_reactivated' && entry.agent_id !== null)
      this.#calmDown(entry.agent_id, position)
    const call = observedCall(entry)
    const placed = call === null ? null : this.model.place(call)
    if (placed === null) return
    const key = scopeKey(placed.agent_id, placed.scope_id)
    const at_ms = this.#timeOf(position, entry)
    if (this.#isIn(key, position)) this.model.advance(at_ms)
    else this.model.observe(placed, at_ms)
  }

  #calmDown(agent_id: string, position: string): void {
    const isSpared = (scope_id: string): boolean =>
      this.#isIn(scopeKey(agent_id, scope_id), position)
    this.model.calmDown(agent_id, isSpared)
    for (const key of this.incidents.keys())
      if (key.startsWith(`${agent_id} `) && !this.#isIn(key, position)) this.incidents.delete(key)
  }

  /** Whether the scope was stored when what stands at this place had been taken already. */
  #isIn(key: ScopeKey, position: string): boolean {
    const ahead = this.#ahead.get(key)
    if (ahead === undefined) return false
    if (!isAfter(position, ahead)) return true
    this.#ahead.delete(key)
    return false
  }

  /** The entry's own time, which spreads what an edge wrote late; never ahead of the store's clock. */
  #timeOf(position: string, { timestamp }: ObservedEntry): number {
    const stored_ms = msOfPlace(position)
    if (timestamp !== this.#timestamp) {
      this.#timestamp = timestamp
      this.#made_ms = Date.parse(timestamp)
    }
    return Number.isNaN(this.#made_ms)
      ? stored_ms
      : Math.min(this.#made_ms, stored_ms + AHEAD_MAX_MS)
  }

  /** A score of zero matters only during an incident, which it may end. */
  #keep(score: ScopeScore): void {
    if (score.score > 0) this.#scores.push(score)
  }
}

/** An entry of the log as the analyser reads it; null if it is not a valid entry. */
export function readPlaced({ place, text }: PlacedText): StreamEntry | null {
  try {
    return { position: place, entry: readObserved(text) }
  } catch {
    return null
  }
}

/** Agents of refusals without a scope; their settings apply to those refusals. */
export const agentsWithoutScope = (entries: readonly StreamEntry[]): string[] =>
  entries.flatMap(({ entry }) => {
    const call: ObservedCall | null = entry.scope_id === null ? observedCall(entry) : null
    return call === null ? [] : [call.agent_id]
  })
