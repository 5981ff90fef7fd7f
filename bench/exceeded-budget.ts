/** By stage (a role of bench/subjects.ts, or `whole`): CPU time per call as a multiple of what plain Envoy needs in the same run. */
export type Budget = Readonly<Record<string, number>>

/** A stage may need this much more than its budget before it is reported. */
const TOLERANCE = 1.15
/** Some 5 µs: the clock ticks are coarse, and small stages would be reported at random. */
const SLACK = 0.15

export interface Exceeded {
  readonly stage: string
  readonly measured: number
  readonly budget: number
}

/** The stages that need clearly more than their budget. A stage without a budget is not compared. */
export const exceededBudget = (measured: Budget, budget: Budget): readonly Exceeded[] =>
  Object.entries(budget).flatMap(([stage, limit]) => {
    const value = measured[stage] ?? 0
    return value > limit * TOLERANCE && value > limit + SLACK
      ? [{ stage, measured: value, budget: limit }]
      : []
  })
