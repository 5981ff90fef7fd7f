/**
 * Parts of all repetitions: a property that a small change breaks is nearly always broken by one in so many cases.
 * `npm run test:unit`, which runs after each small change, does few; `npm test` does some; TEST_REPETITIONS=all does all.
 */
const PARTS: Readonly<Record<string, number>> = { few: 1 / 10, some: 1 / 5, all: 1 }

export const triesAll = process.env['TEST_REPETITIONS'] === 'all'

/** How often a test tries random cases, or repeats what has to happen often. */
export function repetitions(all: number): number {
  return Math.ceil(all * (PARTS[process.env['TEST_REPETITIONS'] ?? 'some'] ?? 1))
}

/**
 * The rows of a table that are tried in one of several tests which each try them all with TEST_REPETITIONS=all: other rows in
 * each test, so that together they try every row.
 */
export function shareOf<Row>(rows: readonly Row[], turn: number): readonly Row[] {
  const every = Math.ceil(rows.length / repetitions(rows.length))
  return rows.filter((_, i) => i % every === turn % every)
}
