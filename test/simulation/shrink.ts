import { planOfSeed } from './plan.ts'
import { simulate } from './simulate.ts'

/** A plan is run again at most so many times to shrink it. */
const RUNS_MAX = 100

/** Which steps of the plan of a seed are enough to violate the same rule, as places in its list. */
export async function shrink(seed: number, rule: string): Promise<readonly number[]> {
  let runs = 0
  const fails = async (keep: readonly number[]): Promise<boolean> =>
    ++runs <= RUNS_MAX && (await simulate(planOfSeed(seed, keep))).violation?.rule === rule
  let kept: readonly number[] = planOfSeed(seed).steps.map((_, i) => i)
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  )
    for (let at = 0; at < kept.length; ) {
      const without = [...kept.slice(0, at), ...kept.slice(at + size)]
      if (await fails(without)) kept = without
      else at += size
    }
  return kept
}
