import { parseArgs } from 'node:util'
import { sendRandomBodies } from '../kit/sent/send-random-bodies.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'

/**
 * Sends random bodies (forms, JSON-RPC, multipart, in encodings, types and framings that fit or do not) through the real Envoy,
 * and reads what arrives at the API with other programs than the gateway's: no denied tool, method or attack may be in it.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/sent-bodies.js [--calls N] [--seed N]
 */
const { values } = parseArgs({
  options: { calls: { type: 'string', default: '5000' }, seed: { type: 'string', default: '1' } },
})
const stack = await startAll({})
try {
  const { counts, faults } = await sendRandomBodies(stack, {
    calls: Number(values.calls),
    seed: Number(values.seed),
  })
  for (const fault of faults) console.log(fault)
  for (const [name, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(count).padStart(7)} ${name}`)
  console.log(`${faults.length} faults`)
  if (faults.length > 0) process.exitCode = 1
} finally {
  await stopAll(stack)
}
