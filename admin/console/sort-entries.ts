import type { ActivityEntry } from './api-types.ts'
import { eventTitle } from './event-title.ts'

/** The columns that a list can be sorted by, and what is compared. Entries without a value come last. */
const SORTED_BY = {
  Event: ({ event }) => eventTitle(event),
  Agent: ({ agent_name, agent_id }) => agent_name ?? agent_id,
  API: ({ integration_id }) => integration_id,
  Call: ({ endpoint }) => endpoint,
  Status: ({ status }) => status,
  ms: ({ duration_ms }) => duration_ms,
} as const satisfies Record<string, (entry: ActivityEntry) => string | number | null>

export type SortColumn = keyof typeof SORTED_BY
export interface Sort {
  readonly by: SortColumn
  readonly isFalling: boolean
}

export const isSortColumn = (head: string): head is SortColumn => Object.hasOwn(SORTED_BY, head)

/** The order of a column, then the other one, then that of time again. */
export function nextSort(before: Sort | null, by: SortColumn): Sort | null {
  const first = { by, isFalling: by === 'Status' || by === 'ms' }
  if (before?.by !== by) return first
  return before.isFalling === first.isFalling ? { by, isFalling: !first.isFalling } : null
}

export function sortEntries(
  entries: readonly ActivityEntry[],
  sort: Sort | null,
): readonly ActivityEntry[] {
  if (sort === null) return entries
  const valueOf = SORTED_BY[sort.by]
  const factor = sort.isFalling ? -1 : 1
  return entries.toSorted((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return factor * (one < other ? -1 : one > other ? 1 : 0)
  })
}
