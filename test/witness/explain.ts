import { parseArgs } from 'node:util'
import { compareRandomCalls } from '../kit/explain/compare-random-calls.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'

/**
 * Sends random calls to `POST /admin/explain` and through the real Envoy, and compares verdict, reason and details, and for
 * allowed calls the integration, scope and rule in the activity log.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/explain.js [--worlds N] [--calls N] [--seed N]
 *
 * Each world is an organization with integrations, agents, keys and scopes of its own.
 */
const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '10' },
    calls: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
})
const calls = Number(values.calls)
const first_seed = Number(values.seed)
const totals = new Map<string, number>()
let differences = 0

const stack = await startAll({})
try {
  for (let seed = first_seed; seed < first_seed + Number(values.worlds); seed++) {
    const compared = await compareRandomCalls(stack, { calls, seed })
    for (const [name, count] of compared.counts) totals.set(name, (totals.get(name) ?? 0) + count)
    differences += compared.differences.length
    for (const difference of compared.differences) console.log(difference)
  }
} finally {
  await stopAll(stack)
}
for (const [name, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(count).padStart(7)} ${name}`)
console.log(`${Number(values.worlds) * calls} calls, ${differences} differences`)
if (differences > 0) process.exitCode = 1
