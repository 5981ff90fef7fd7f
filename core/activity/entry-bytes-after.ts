import { comparePlaces } from './log-place.ts'
import type { LogRow, PlacedBytes } from './log-row.ts'

/**
 * The entries of rows after a position as bytes, in the order of the log. The rows begin with the one that has the first such entry,
 * so only that one can have earlier entries.
 */
export function entryBytesAfter(place: string, rows: readonly LogRow[]): readonly PlacedBytes[] {
  return rows.flatMap((row, i) => {
    const entries = row.entryBytes()
    return i > 0 ? entries : entries.filter((one) => comparePlaces(one.place, place) > 0)
  })
}
