import { actionSentence } from '../../core/activity/action-sentence.ts'
import { eventRow } from '../../core/events.ts'
import type { ActivityEntry } from './api-types.ts'

/** A summary that distinguishes an entry from others with the same event. */
export function summaryOf(entry: ActivityEntry): string {
  const { event, method, reason, data } = entry
  // Members of a counted flood (core/activity/flood-entry.ts).
  if (method === null && typeof data['suppressed'] === 'number')
    return `${reason}: ${data['suppressed']} more were counted`
  if (event === 'admin_action') return actionSentence(entry)
  const shown = (eventRow(event)?.summary ?? []).flatMap((name) => summarized(name, data[name]))
  return shown.join(', ') || (reason ?? '')
}

/** A text needs no label; a number or a list does. */
function summarized(name: string, value: unknown): readonly string[] {
  if (value == null || value === '') return []
  if (typeof value === 'string') return [value]
  const text = Array.isArray(value) ? value.join(' ') : JSON.stringify(value)
  return [`${name.replaceAll('_', ' ')} ${text}`]
}
