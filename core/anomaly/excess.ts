/**
 * A scale for counts on which random variation is about the same whatever count is expected: like a square root for small
 * counts (Poisson), like a logarithm for large ones, where traffic varies in proportion.
 */
const TURN = 4
const OFFSET = 0.375
const TABLE_SIZE = 4096

const scale = (count: number): number =>
  TURN * Math.asinh(Math.sqrt((count + OFFSET) / (TURN - 2 * OFFSET)))

const table = Float64Array.from({ length: TABLE_SIZE }, (_, count) => scale(count))

/** Standard deviations that a Poisson count exceeds once in a thousand times, and the correction for its skew. */
const DEVIATIONS = 3.1
const SKEW = (DEVIATIONS ** 2 - 1) / 6
/** Below this expectation the correction fades to zero. */
const SKEW_FADES = 0.02

/** The count that is reached by chance once in a thousand times, about once per hour of scores. */
const chanceLimit = (expected: number): number =>
  expected + DEVIATIONS * Math.sqrt(expected) + (SKEW * expected) / (expected + SKEW_FADES)

/** How far a count is above the range of chance; zero if it is within. Ten times a large limit is 4.6. */
export function excess(count: number, expected: number): number {
  if (count <= expected) return 0
  const limit = chanceLimit(expected)
  return count <= limit ? 0 : (table[count] ?? scale(count)) - scale(limit)
}
