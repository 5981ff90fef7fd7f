import { parseArgs } from 'node:util'
import { KEPT_SEEDS } from './kept-seeds.ts'
import { type Plan, planOfSeed, seedOfTurn, SUBJECT_SEEDS } from './plan.ts'
import { SUBJECTS } from './subject.ts'
import { shrink } from './shrink.ts'
import { type Outcome, simulate } from './simulate.ts'

/**
 * `npm run simulate [-- --seeds N | --minutes N] [--from SEED]`: runs kept seeds and then one plan for each number, and prints
 * what was run. A seed that fails is run again and shrunk. `--seed N [--keep 1,2] [--world N]` runs one and prints all that happens.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    keep: { type: 'string' },
    world: { type: 'string' },
    /** How many seeds may fail before it ends. */
    failures: { type: 'string', default: '5' },
    /** Of one subject alone. */
    subject: { type: 'string' },
    /** The kept seed of this name, and no other. If it holds, its plan is tried with other chances. */
    kept: { type: 'string' },
    /** Without the kept seeds. */
    fresh: { type: 'boolean', default: false },
    counts: { type: 'boolean', default: false },
  },
})

const DEFAULT_SEEDS = 300
const WORLDS = 50
/** What a violation says is as long as it needs; its line is not. */
const MESSAGE_MAX = 300
// Errors of the store are part of what is simulated, and are many.
Error.stackTraceLimit = 0
const sum = { seeds: 0, simulated_ms: 0, events: 0, faults: 0 }
const counts: Record<string, number> = {}
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const say = (text: string): void => void process.stdout.write(`${text}\n`)

async function run(plan: Plan): Promise<Outcome> {
  const outcome = await simulate(plan)
  sum.seeds++
  sum.simulated_ms += outcome.simulated_ms
  sum.events += outcome.events
  sum.faults += outcome.faults
  for (const [name, count] of Object.entries(outcome.counts))
    counts[name] = (counts[name] ?? 0) + count
  return outcome
}

/** @param isFirst only the first one is shrunk */
async function report(seed: number, outcome: Outcome, isFirst: boolean): Promise<void> {
  const after = `after ${sum.seeds} seeds and ${cpuSeconds().toFixed(1)} s of CPU`
  const failed = `seed ${seed} fails: ${outcome.violation?.message.slice(0, MESSAGE_MAX)} (${after})`
  if (!isFirst) return say(failed)
  const again = await simulate(planOfSeed(seed))
  const isSame = again.digest === outcome.digest
  const rule = outcome.violation?.rule ?? ''
  const keep = isSame ? await shrink(seed, rule) : []
  say(failed)
  say(
    isSame
      ? `  shrunk to ${keep.length} steps: npm run simulate -- --seed ${seed} --keep ${keep.join(',')}`
      : '  a second run went otherwise: something is not simulated',
  )
}

async function search(): Promise<void> {
  let failed = 0
  for (const [found, seed, keep, world = seed] of values.fresh ? [] : KEPT_SEEDS) {
    if (values.kept !== undefined && values.kept !== found) continue
    const worlds = Array.from({ length: values.kept === undefined ? 0 : WORLDS }, (_, i) => i + 1)
    for (const one of [world, ...worlds]) {
      const { violation } = await run(planOfSeed(seed, keep, one))
      if (violation === null) continue
      failed++
      say(`the kept seed ${seed} fails again in world ${one} (${found}): ${violation.message}`)
      break
    }
  }
  const from = Number(values.from)
  const seeds = values.seeds ?? (values.minutes === undefined ? DEFAULT_SEEDS : Infinity)
  const end_s = values.minutes === undefined ? Infinity : cpuSeconds() + Number(values.minutes) * 60
  for (let n = from; n < from + Number(seeds) && cpuSeconds() < end_s; n++) {
    const subject = SUBJECTS.findIndex((one) => one === values.subject)
    const seed = subject < 0 ? seedOfTurn(n) : subject * SUBJECT_SEEDS + n
    const outcome = await run(planOfSeed(seed))
    if (outcome.violation === null) continue
    await report(seed, outcome, failed === 0)
    if (++failed >= Number(values.failures)) break
  }
  const hours = sum.simulated_ms / 3_600_000
  const cpu_s = cpuSeconds()
  say(
    `${sum.seeds} seeds, ${hours.toFixed(2)} simulated hours (${((hours / cpu_s) * 60).toFixed(2)} a minute of CPU), ${sum.events} events, ${sum.faults} faults, ${failed} failed, ${cpu_s.toFixed(1)} s of CPU`,
  )
  if (values.counts) say(JSON.stringify(counts, null, 1))
  if (failed > 0) process.exitCode = 1
}

if (values.seed === undefined) await search()
else {
  const keep = values.keep?.split(',').map(Number) ?? null
  const seed = Number(values.seed)
  const plan = planOfSeed(seed, keep, Number(values.world ?? seed))
  const { lines, violation } = await simulate(plan, true)
  say(lines.join('\n'))
  if (violation !== null) process.exitCode = 1
}
