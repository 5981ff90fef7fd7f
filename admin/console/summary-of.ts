import { entrySummary } from '../../core/activity/entry-summary.ts'
import { isFloodEntry } from '../../core/activity/is-flood-entry.ts'
import type { ActivityEntry } from './api-types.ts'

/** A summary that distinguishes an entry from others with the same event. */
export function summaryOf(entry: ActivityEntry): string {
  const summary = entrySummary(entry)
  return isFloodEntry(entry) ? `${entry.reason}: ${summary}` : summary || (entry.reason ?? '')
}
