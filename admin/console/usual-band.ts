const DAY_HOURS = 24
/** Days of the same time of day that must be known. */
const DAYS_MIN = 3
/** The band leaves out the lowest and the highest tenth. */
const RANK = 0.1

export interface Band {
  readonly low: number
  readonly high: number
}

/**
 * The usual calls per hour at this time of day: of each day before, the same hour and its neighbours. Null while an agent has
 * called for less than three days.
 * @param counts by the hour, the oldest first; the last one is the current hour
 */
export function usualBand(counts: readonly number[]): Band | null {
  const first = counts.findIndex((count) => count > 0)
  const now = counts.length - 1
  if (first < 0 || now - first < DAYS_MIN * DAY_HOURS) return null
  const known: number[] = []
  for (let hour = now - DAY_HOURS; hour >= first; hour -= DAY_HOURS)
    known.push(...counts.slice(Math.max(first, hour - 1), hour + 2))
  const sorted = known.toSorted((a, b) => a - b)
  const at = Math.floor(sorted.length * RANK)
  return { low: sorted[at] ?? 0, high: sorted[sorted.length - 1 - at] ?? 0 }
}
