import { parseArgs } from 'node:util'
import { planOfSeed } from './plan.ts'
import { simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    counts: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
  },
})
const from = Number(values.from)
const began = process.cpuUsage()
let events = 0
let simulated_ms = 0
let faults = 0
let failed = 0
const counts: Record<string, number> = {}
for (let seed = from; seed < from + Number(values.seeds); seed++) {
  const outcome = await simulate(planOfSeed(seed), values.trace)
  events += outcome.events
  simulated_ms += outcome.simulated_ms
  faults += outcome.faults
  for (const [name, count] of Object.entries(outcome.counts))
    counts[name] = (counts[name] ?? 0) + count
  if (values.trace) process.stdout.write(outcome.lines.join('\n') + '\n')
  if (outcome.violation !== null) {
    failed++
    process.stdout.write(`seed ${seed}: ${outcome.violation.message}\n`)
  }
}
const { user, system } = process.cpuUsage(began)
const cpu_s = (user + system) / 1e6
process.stdout.write(
  `${values.seeds} seeds, ${(simulated_ms / 3_600_000).toFixed(2)} simulated hours, ${events} events, ${faults} faults, ${failed} failed, ${cpu_s.toFixed(1)} s of CPU\n`,
)
if (values.counts) process.stdout.write(`${JSON.stringify(counts, null, 1)}\n`)
