import { parseArgs } from 'node:util'
import { type Filling, PLAIN_FILLINGS, randomFilling } from './timing/fillings.ts'
import { type Cost, costOf, filled, isLinear, PASSES_MAX, RATIO_MAX } from './timing/measure.ts'
import { type Subject, SUBJECTS } from './timing/subjects.ts'

/**
 * `npm run bench -- timing [--random 50] [--seed 1] [WORD…]`: the cost of everything that reads text of a caller, an API or a
 * tenant, with texts made to be expensive: all of them at a moderate size, and the worst of these at the size limit. Fails if
 * twice the text costs more than 2.3 times as much there, or a text more than 100 passes over its bytes.
 */
const { values, positionals } = parseArgs({
  options: { random: { type: 'string', default: '50' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
})
/** All texts are tried with so many bytes. */
const SCREEN_BYTES = 65_536
/** So many of the most expensive and of the steepest are tried at the limit. */
const FINALISTS = 3
const REPEATS = 5

interface Tried {
  readonly filling: Filling
  readonly cost: Cost
}

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const failures: string[] = []

/** The first ones by a member of their cost. */
const worst = (tried: readonly Tried[], by: 'passes' | 'ratio', count: number): readonly Tried[] =>
  tried.toSorted((a, b) => b.cost[by] - a.cost[by]).slice(0, count)

function tryAll(subject: Subject, fillings: readonly Filling[]): string {
  const { name, limit_bytes } = subject
  const screened = fillings.map((filling) => ({
    filling,
    cost: costOf(filled(subject, filling), Math.min(limit_bytes, SCREEN_BYTES), 0),
  }))
  const finalists = new Set(
    [...worst(screened, 'passes', FINALISTS), ...worst(screened, 'ratio', FINALISTS)].map(
      ({ filling }) => filling,
    ),
  )
  const tried = [...finalists].map((filling) => ({
    filling,
    cost: costOf(filled(subject, filling), limit_bytes, REPEATS),
  }))
  for (const { filling, cost } of tried)
    if (!isLinear(cost))
      failures.push(
        `${name}, ${filling.name}: ${cost.passes.toFixed(0)} passes, ${cost.ratio.toFixed(2)} times, ${cost.ms.toFixed(1)} ms`,
      )
  const [slow] = worst(tried, 'passes', 1)
  const [steep] = worst(tried, 'ratio', 1)
  return [
    name.padEnd(36),
    String(limit_bytes).padStart(7),
    (slow?.cost.passes ?? 0).toFixed(1).padStart(8),
    `${(slow?.cost.ms ?? 0).toFixed(2)} ms`.padStart(12),
    (slow?.filling.name ?? '').slice(0, 40).padEnd(42),
    (steep?.cost.ratio ?? 0).toFixed(2).padStart(6),
    (steep?.filling.name ?? '').slice(0, 40),
  ].join(' ')
}

const random = randomOf(Number(values.seed))
const fillings = [
  ...PLAIN_FILLINGS,
  ...Array.from({ length: Number(values.random) }, () => randomFilling(random)),
]
const subjects = SUBJECTS.filter(
  ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
)
console.log(
  `${fillings.length} texts for each of ${subjects.length} subjects; at most ${PASSES_MAX} passes, and ${RATIO_MAX} times for twice the text`,
)
console.log(
  `${'subject'.padEnd(36)}   bytes   passes    CPU time most expensive text                        twice steepest text`,
)
for (const subject of subjects) console.log(tryAll(subject, fillings))
console.log(
  failures.length === 0 ? 'all linear' : `not linear: ${failures.length}\n${failures.join('\n')}`,
)
process.exitCode = failures.length === 0 ? 0 : 1
