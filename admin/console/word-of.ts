import type { ActivityEntry } from './api-types.ts'

/** What came of a call in one word. A call that was allowed and that the API did not serve is not shown as a success. */
export function wordOf({ decision, status }: Pick<ActivityEntry, 'decision' | 'status'>): string {
  if (decision !== 'allowed' || status === null || status < 400) return decision ?? 'none'
  return status >= 500 ? 'failed' : 'refused by the API'
}
