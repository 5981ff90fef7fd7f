import type { LogRow } from './log-row.ts'

/** The first rows that have this many entries together, at least one row: the number of entries per row varies widely. */
export function takeRows(rows: readonly LogRow[], entries_max: number): readonly LogRow[] {
  let entries = 0
  const end = rows.findIndex((row) => (entries += row.count) >= entries_max)
  return end < 0 ? rows : rows.slice(0, end + 1)
}
