/** Refusals of the last hour that are not as in the hours before. */
export interface Unusual {
  readonly reason: string
  readonly count: number
  /** The middle of the hours before. */
  readonly usual: number
}

export interface HourlyRefusals {
  readonly reason: string
  /** By the hour, the oldest first; the last one is the current hour. */
  readonly counts: readonly number[]
}

/** Fewer refusals an hour need nobody at night. */
const LEAST = 20
/** The last hour must have this many times the usual number, and more than nineteen of twenty hours before. */
const TIMES = 5
const RANK = 0.95
/** Without a day of calls, nothing is known about what is usual. */
const HOURS_KNOWN = 24

/** Reasons whose refusals are out of the ordinary, the largest first. `active` says in how many of the hours calls were made. */
export function unusualRefusals(
  groups: readonly HourlyRefusals[],
  activeHours: number,
): readonly Unusual[] {
  if (activeHours < HOURS_KNOWN) return []
  return groups
    .flatMap(({ reason, counts }) => {
      const before = counts.slice(0, -1).toSorted((a, b) => a - b)
      // The current hour has only begun: what the hour before had counts as well.
      const count = Math.max(counts.at(-1) ?? 0, counts.at(-2) ?? 0)
      const usual = before[Math.floor(before.length / 2)] ?? 0
      const high = before.slice(0, -1)[Math.floor((before.length - 1) * RANK)] ?? 0
      const isUnusual = count >= LEAST && count > TIMES * Math.max(1, usual) && count > high
      return isUnusual ? [{ reason, count, usual }] : []
    })
    .toSorted((a, b) => b.count - a.count)
}
