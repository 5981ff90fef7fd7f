import { eventRow } from '../catalogue/events.ts'
import { actionSentence } from './action-sentence.ts'
import type { ActivityEntry } from './activity-entry.ts'
import { isFloodEntry } from './is-flood-entry.ts'

type Summarized = Pick<ActivityEntry, 'event' | 'method' | 'agent_id' | 'agent_name' | 'data'> & {
  readonly reason: string | null
}

/** What distinguishes an entry from others with the same event and reason, in a few words; may be empty. */
export function entrySummary(entry: Summarized): string {
  const { event, method, reason, data } = entry
  if (isFloodEntry({ method, data })) return `${Number(data['suppressed'])} more in this minute`
  if (event === 'admin_action') return actionSentence(entry)
  const summary = eventRow(event)?.summary(data) ?? ''
  return summary === reason ? '' : summary
}
