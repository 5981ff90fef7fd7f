import { parseArgs } from 'node:util'
import { type Filling, fillTo, PLAIN_FILLINGS, randomFilling } from './timing/fillings.ts'
import { type Cost, costOf, isLinear, PASSES_MAX, RATIO_MAX } from './timing/measure.ts'
import { type Subject, SUBJECTS } from './timing/subjects.ts'

/**
 * `npm run bench -- timing [--random 200] [--seed 1] [WORD…]`: the cost of everything that reads text of a caller, an API or a
 * tenant, at its size limit, with texts made to be expensive. Fails if twice the text costs more than 2.3 times as much, or a
 * text more than 100 passes over its bytes.
 */
const { values, positionals } = parseArgs({
  options: { random: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
})

interface Worst {
  readonly cost: Cost
  readonly filling: string
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

function tryAll({ name, limit_bytes, prepare }: Subject, fillings: readonly Filling[]): string {
  let slow: Worst | null = null
  let steep: Worst | null = null
  for (const filling of fillings) {
    const cost = costOf((bytes, turn) => prepare(fillTo(bytes, filling, turn)), limit_bytes)
    const worst = { cost, filling: filling.name }
    if (!isLinear(cost))
      failures.push(
        `${name}, ${filling.name}: ${cost.passes.toFixed(0)} passes, ${cost.ratio.toFixed(2)} times, ${cost.ms.toFixed(1)} ms`,
      )
    if (slow === null || slow.cost.passes < cost.passes) slow = worst
    if (steep === null || steep.cost.ratio < cost.ratio) steep = worst
  }
  return [
    name.padEnd(36),
    String(limit_bytes).padStart(7),
    (slow?.cost.passes ?? 0).toFixed(1).padStart(8),
    `${(slow?.cost.ms ?? 0).toFixed(2)} ms`.padStart(12),
    (slow?.filling ?? '').slice(0, 40).padEnd(42),
    (steep?.cost.ratio ?? 0).toFixed(2).padStart(6),
    (steep?.filling ?? '').slice(0, 40),
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
