import type { ActivityEntry } from './activity-entry.ts'
import { isFloodEntry } from './is-flood-entry.ts'
import type { Via } from './vias.ts'

/** Null for an entry that is not about one call. Only calls through the forward proxy say so in the entry. */
export function viaOf(entry: Pick<ActivityEntry, 'decision' | 'method' | 'data'>): Via | null {
  if (entry.data['via'] === 'forward') return 'forward'
  return entry.decision === null || isFloodEntry(entry) ? null : 'base_url'
}
