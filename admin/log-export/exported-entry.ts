import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'
import type { PlacedBytes } from '../../core/activity/log-row.ts'
import { EVENTS } from '../../core/catalogue/events.ts'
import { hideFormerSecrets } from '../activity/hide-former-secrets.ts'

/** An entry of the log as it is exported; without `entry` it cannot be read, and `text` is all that is known. */
export interface ExportedEntry {
  readonly entry: ActivityEntry | null
  readonly text: string
  readonly at_ms: number
}

export function exportedEntry({ place, text: bytes }: PlacedBytes): ExportedEntry {
  const text = bytes.toString()
  const read = readEntry(text)
  if (read === null) return { entry: null, text, at_ms: msOfPlace(place) }
  const started_ms = Date.parse(read.timestamp)
  const at_ms = Number.isNaN(started_ms) ? msOfPlace(place) : started_ms
  return { entry: hideFormerSecrets(read), text, at_ms }
}

/** Refusals, and what an alert can follow from. */
export const isNotable = ({ decision, event }: ActivityEntry): boolean =>
  (decision !== null && decision !== 'allowed') || EVENTS[event]?.may_alert === true

function readEntry(text: string): ActivityEntry | null {
  try {
    const entry = JSON.parse(text) as ActivityEntry | null
    return typeof entry?.event === 'string' ? entry : null
  } catch {
    return null
  }
}
