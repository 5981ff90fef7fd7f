import type { ActivityEntry } from '../activity/activity-entry.ts'
import { msOfPlace } from '../activity/log-place.ts'
import type { LostState } from '../kill/restore-state.ts'

/** A change by an operator or of a kill state, as the activity log records it. */
export interface LoggedChange {
  readonly organization_id: string
  /** Position in the log. */
  readonly place: string
  readonly timestamp: string
  readonly action: string
  readonly target: string
  readonly agent_id: string | null
  /** The members that differ. */
  readonly after: Readonly<Record<string, unknown>> | null
  readonly killed_at: string | null
  readonly kill_reason: string | null
  /** A reactivation that replaced the keys. */
  readonly rotated: boolean
  /** Comes from a source that an attacker cannot have written: a store of this deployment, or a chain that verifies. */
  readonly is_proven: boolean
}

/** Changes that are kept in memory, and in the store while they are applied. */
export const CHANGES_MAX = 50_000

/** Null if the text of a log entry is none. A quick look first: most entries are calls. */
export function readLoggedChange(
  text: string,
  place: string,
  organization_id: string,
  is_proven: boolean,
): LoggedChange | null {
  if (!text.includes('"event":"admin_action"')) return null
  let entry: Partial<ActivityEntry>
  try {
    entry = JSON.parse(text) as Partial<ActivityEntry>
  } catch {
    return null
  }
  const { data, timestamp, agent_id = null } = entry
  const { action, target, after, killed_at, reason, rotated } = data ?? {}
  if (entry.event !== 'admin_action' || typeof timestamp !== 'string') return null
  if (typeof action !== 'string' || typeof target !== 'string') return null
  return {
    organization_id,
    place,
    timestamp,
    action,
    target,
    agent_id,
    after: typeof after === 'object' ? (after as LoggedChange['after']) : null,
    killed_at: typeof killed_at === 'string' ? killed_at : null,
    kill_reason: typeof reason === 'string' ? reason : null,
    rotated: rotated === true,
    is_proven,
  }
}

/** The kill state that a change left behind; null for all other changes, and for a reactivation that is not proven. */
export function killStateOf(change: LoggedChange): LostState | null {
  const { action, place, timestamp, after, is_proven, rotated: keys_replaced } = change
  const said = after?.['revision']
  // Entries of older versions do not have it, and what is not proven may be too high for any reactivation. The position follows the
  // same clock.
  const isSaid = is_proven && typeof said === 'number'
  const revision = isSaid ? said : Math.min(msOfPlace(place), Date.now())
  switch (action) {
    case 'agent.kill':
    case 'agent.kill_restored': {
      const killed_at = change.killed_at ?? timestamp
      return { revision, killed_at, kill_reason: change.kill_reason, keys_replaced: false }
    }
    case 'agent.reactivate':
    case 'agent.reactivation_restored':
      if (!is_proven) return null
      return { revision, killed_at: null, kill_reason: null, keys_replaced }
    default:
      return null
  }
}
