const MINUTE_MS = 60_000
const DAY = 1440
/** In minutes; those of a day and more are a number of days. */
const STEPS = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  180,
  360,
  720,
  DAY,
  2 * DAY,
  5 * DAY,
  10 * DAY,
  30 * DAY,
  60 * DAY,
] as const

/** Round local times in a range, evenly apart and at most so many: midnights, full hours, or minutes. */
export function timeTicks(from_ms: number, to_ms: number, most: number): readonly number[] {
  const fits = (step: number): boolean => (to_ms - from_ms) / (step * MINUTE_MS) <= most
  const step = STEPS.find(fits) ?? 60 * DAY
  const start = new Date(from_ms)
  const [year, month, day] = [start.getFullYear(), start.getMonth(), start.getDate()]
  const ticks: number[] = []
  for (let n = 0; ; n++) {
    // By the calendar, since a day with a change of the clock has 23 or 25 hours.
    const [days, minutes] = step < DAY ? [0, n * step] : [(n * step) / DAY, 0]
    const at_ms = new Date(year, month, day + days, 0, minutes).getTime()
    if (at_ms >= to_ms) return ticks
    if (at_ms >= from_ms && at_ms > (ticks.at(-1) ?? 0)) ticks.push(at_ms)
  }
}
