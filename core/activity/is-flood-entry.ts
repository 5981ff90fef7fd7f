import type { ActivityEntry } from './activity-entry.ts'

/** Whether an entry represents many calls. */
export const isFloodEntry = ({ method, data }: Pick<ActivityEntry, 'method' | 'data'>): boolean =>
  method === null && typeof data['suppressed'] === 'number'
