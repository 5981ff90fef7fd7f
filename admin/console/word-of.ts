import type { ActivityEntry } from './api-types.ts'

/** What came of a call in one word. A call that was allowed and that the API did not serve is not shown as a success. */
export function wordOf({ decision, status }: Pick<ActivityEntry, 'decision' | 'status'>): string {
  if (decision !== 'allowed' || status === null || status < 400) return decision ?? 'none'
  return status >= 500 ? 'failed' : 'refused by the API'
}

/** The colour of an entry: a call that the API did not serve is none of a success. */
export const toneOf = (entry: Pick<ActivityEntry, 'decision' | 'status'>): string =>
  entry.decision === 'allowed' && (entry.status ?? 0) >= 400 ? 'failed' : (entry.decision ?? 'none')
