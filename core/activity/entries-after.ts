import { comparePlaces } from './log-place.ts'
import type { LogRow, PlacedText } from './log-row.ts'

/**
 * The entries of rows after a position, in the order of the log. A block is expanded when it is reached. The rows begin with the one that
 * has the first such entry, so only that one can have earlier entries.
 */
export function* entriesAfter(place: string, rows: Iterable<LogRow>): Generator<PlacedText> {
  let isFirst = true
  for (const row of rows) {
    for (const placed of row.entries())
      if (!isFirst || comparePlaces(placed.place, place) > 0) yield placed
    isFirst = false
  }
}
