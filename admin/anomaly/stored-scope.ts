import type { Incident } from '../../core/anomaly/incident.ts'
import type { ScopeModelState } from '../../core/anomaly/scope-model.ts'

/** State in another format comes from another version of the analyser; it is not read, and learning starts over. */
export const STATE_FORM = 1

/** The stored state of a scope. All calls up to `position` are in the model, later ones are not. */
export interface StoredScope {
  readonly form: number
  readonly position: string
  readonly model: ScopeModelState
  readonly incident: Incident | null
}

/** Where the analyser continues: every scope that changed before it is stored. */
export interface StoredPosition {
  readonly form: number
  readonly position: string
  readonly tick_ms: number
}

export const POSITION_FIELD = 'position'
export const BEGINNING = '0-0'

export function readStored<T extends { readonly form: number }>(text: string | null): T | null {
  if (text === null) return null
  const stored = JSON.parse(text) as T
  return stored.form === STATE_FORM ? stored : null
}

/** Whether one position in a stream is after another. */
export function isAfter(position: string, other: string): boolean {
  const [ms = 0, number = 0] = position.split('-').map(Number)
  const [other_ms = 0, other_number = 0] = other.split('-').map(Number)
  return ms === other_ms ? number > other_number : ms > other_ms
}
