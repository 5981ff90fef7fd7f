import { comparePlaces } from './log-place.ts'
import type { LogRow, PlacedText } from './log-row.ts'

/** The entries of rows after a position, in the order of the log. A block is expanded when it is reached. */
export function* entriesAfter(place: string, rows: Iterable<LogRow>): Generator<PlacedText> {
  for (const row of rows)
    for (const placed of row.entries()) if (comparePlaces(placed.place, place) > 0) yield placed
}
