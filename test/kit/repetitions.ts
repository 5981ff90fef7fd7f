/** Of what `npm test` repeats: a property that a small change breaks is nearly always broken by one in so many cases. */
const FEW = 1 / 10

/**
 * How often a test tries random cases, or repeats what has to happen often. `npm run test:unit`, which runs after each
 * small change, does a part of it; `npm test` does all.
 */
export function repetitions(all: number): number {
  return process.env['TEST_REPETITIONS'] === 'few' ? Math.ceil(all * FEW) : all
}

/**
 * The rows of a table that `npm run test:unit` tries in one of several tests which each try them all in `npm test`: other
 * rows in each test, so that together they try every row.
 */
export function shareOf<Row>(rows: readonly Row[], turn: number): readonly Row[] {
  const every = Math.ceil(rows.length / repetitions(rows.length))
  return rows.filter((_, i) => i % every === turn % every)
}
