import type { ActivityEntry } from '../activity/activity-entry.ts'
import { AnomalyModel, type ScopeKey, scopeKey } from './anomaly-model.ts'
import type { AnomalyType, ScopeScore } from './anomaly-type.ts'
import { type Incident, stepIncident } from './incident.ts'
import { type ObservedCall, observedCall } from './observed-call.ts'

/** Calls that are buffered for sorting: a year of one call per minute, or a day of 365 per minute. */
export const REPLAY_CALLS_MAX = 2_000_000
/** Maximum number of incidents of a scope that are shown; all are counted. */
export const INCIDENTS_SHOWN_MAX = 100
/** Thresholds that are compared with the requested ones. */
const COMPARED = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]

export interface ReplayOptions {
  readonly alert_threshold: number
  /** 1 is never. */
  readonly auto_kill_threshold: number
  readonly learning_ms: number
}

export interface ReplayedIncident {
  readonly at: string
  readonly score: number
  readonly types: readonly AnomalyType[]
  readonly normal_rpm: number
  readonly current_rpm: number
  readonly killed: boolean
}

export interface ReplayedScope {
  readonly agent_id: string
  readonly agent_name: string | null
  readonly scope_id: string
  readonly calls: number
  readonly first_at: string
  readonly last_at: string
  readonly learning: boolean
  readonly highest_score: number
  readonly highest_at: string | null
  readonly highest_types: readonly AnomalyType[]
  /** Alerts that would have been raised: an incident that leads to a kill counts twice. */
  readonly incidents: readonly ReplayedIncident[]
  readonly incident_count: number
  readonly kill_count: number
  /** The number of incidents with other thresholds. */
  readonly incidents_at: readonly { readonly threshold: number; readonly incidents: number }[]
}

interface Held {
  readonly at_ms: number
  /** A reactivation, which resets the score of the agent. */
  readonly call: ObservedCall | { readonly agent_id: string; readonly reactivated: true }
}

interface Track {
  readonly incidents: ReplayedIncident[]
  count: number
  kills: number
  incident: Incident | null
  readonly compared: { incident: Incident | null; count: number }[]
  highest: ScopeScore | null
}

/** Stored activity, in any order, scored as the analyser would have scored it. */
export class Replay {
  readonly #options: ReplayOptions
  readonly #held: Held[] = []
  readonly #names = new Map<string, string>()
  readonly #tracks = new Map<ScopeKey, Track>()
  readonly #last_ms = new Map<ScopeKey, number>()

  constructor(options: ReplayOptions) {
    this.#options = options
  }

  /** Adds an entry; false if the buffer is full. Entries that are not calls are ignored. */
  add(entry: ActivityEntry): boolean {
    const at_ms = Date.parse(entry.timestamp)
    if (Number.isNaN(at_ms) || entry.agent_id === null) return true
    if (entry.agent_name !== null) this.#names.set(entry.agent_id, entry.agent_name)
    const call =
      entry.event === 'agent_reactivated'
        ? { agent_id: entry.agent_id, reactivated: true as const }
        : observedCall(entry)
    if (call === null) return true
    if (this.#held.length >= REPLAY_CALLS_MAX) return false
    this.#held.push({ at_ms, call })
    return true
  }

  /** Scores everything that was added. */
  run(): ReplayedScope[] {
    this.#held.sort((a, b) => a.at_ms - b.at_ms)
    const { learning_ms } = this.#options
    const model = new AnomalyModel({ learning_ms, onScore: (score) => this.#step(score) })
    for (const { at_ms, call } of this.#held) {
      if ('reactivated' in call) {
        model.advance(at_ms)
        model.calmDown(call.agent_id)
        continue
      }
      const placed = model.place(call)
      if (placed === null) continue
      model.observe(placed, at_ms)
      this.#last_ms.set(scopeKey(placed.agent_id, placed.scope_id), at_ms)
    }
    const last = this.#held.at(-1)
    // The last calls are scored at the tick that follows them.
    if (last !== undefined) model.advance(last.at_ms + 5000)
    return this.#replayed(model)
  }

  #replayed(model: AnomalyModel): ReplayedScope[] {
    return [...model.scopes()].map(({ agent_id, scope_id, model: scope }) => {
      const key = scopeKey(agent_id, scope_id)
      const track = this.#trackOf(key)
      return {
        agent_id,
        agent_name: this.#names.get(agent_id) ?? null,
        scope_id,
        calls: scope.calls,
        first_at: iso(scope.first_ms),
        last_at: iso(this.#last_ms.get(key) ?? scope.first_ms),
        learning: scope.learning,
        highest_score: track.highest?.score ?? 0,
        highest_at: track.highest === null ? null : iso(track.highest.at_ms),
        highest_types: track.highest?.types ?? [],
        incidents: track.incidents,
        incident_count: track.count,
        kill_count: track.kills,
        incidents_at: COMPARED.map((threshold, n) => ({
          threshold,
          incidents: track.compared[n]?.count ?? 0,
        })),
      }
    })
  }

  #step(score: ScopeScore): void {
    if (score.score === 0) return
    const track = this.#trackOf(scopeKey(score.agent_id, score.scope_id))
    if (score.score > (track.highest?.score ?? 0)) track.highest = score
    const { incident, action } = stepIncident(
      track.incident,
      score.score,
      score.at_ms,
      this.#options,
    )
    track.incident = incident
    if (incident?.opened_ms === score.at_ms) track.count++
    if (action !== null) note(track, score, action === 'kill')
    track.compared.forEach((compared, n) => {
      const alert_threshold = COMPARED[n] as number
      const step = stepIncident(compared.incident, score.score, score.at_ms, {
        alert_threshold,
        auto_kill_threshold: 1,
      })
      compared.incident = step.incident
      if (step.action !== null) compared.count++
    })
  }

  #trackOf(key: ScopeKey): Track {
    const known = this.#tracks.get(key)
    if (known !== undefined) return known
    const track: Track = {
      incidents: [],
      count: 0,
      kills: 0,
      incident: null,
      compared: COMPARED.map(() => ({ incident: null, count: 0 })),
      highest: null,
    }
    this.#tracks.set(key, track)
    return track
  }
}

function note(track: Track, score: ScopeScore, killed: boolean): void {
  if (killed) track.kills++
  if (track.incidents.length >= INCIDENTS_SHOWN_MAX) return
  track.incidents.push({
    at: iso(score.at_ms),
    score: score.score,
    types: score.types,
    normal_rpm: Math.round(score.normal_rpm * 100) / 100,
    current_rpm: Math.round(score.current_rpm * 100) / 100,
    killed,
  })
}

const iso = (ms: number): string => new Date(ms).toISOString()
