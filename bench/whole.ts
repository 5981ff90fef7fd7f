import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { fromRoot } from '../core/system/root.ts'
import { readSettings } from '../core/settings/settings.ts'
import { type Budget, exceededBudget } from './exceeded-budget.ts'
import { type CpuSample, measureCpu, medianOf, type Plan } from './measure-cpu.ts'
import { measureIdle } from './measure-idle.ts'
import { GET_ALL_ON, GET_UNCHECKED, POST_ALL_ON, POST_UNCHECKED } from './rows.ts'
import { startLoad } from './start-load.ts'
import { isProduct, ROLES, type Row, startSubjects, type Subject } from './subjects.ts'

/**
 * CPU time per call of every process that the product runs, as `agw start` runs it: Envoy, ext-proc, the receiver of the
 * access log, admin, the store and the launcher, next to plain Envoy and Envoy with a processor that only answers.
 *
 *   npm run bench -- whole [--beside DIR] [--threads N] [--rounds N] [--calls N] [--large] [--record] [--idle SECONDS]
 *
 * `--beside` names another checkout that is built, which is measured in the same rounds, `--threads` one more product whose Envoy has
 * that many worker threads. `--large` adds large bodies and event streams; `--idle` measures what is used without calls, and no more.
 * bench/budget.json has a budget for each stage, as a multiple of plain Envoy in the same run; a stage that needs 15 % more is shown in red,
 * and the exit code is 1. `--record` replaces the budgets of the rows that were measured.
 */

const BUDGET_FILE = fromRoot('bench', 'budget.json')

const ROWS: readonly Row[] = [GET_ALL_ON, POST_ALL_ON, POST_UNCHECKED, GET_UNCHECKED]
const LARGE_ROWS: readonly Row[] = [
  { name: 'POST 64 kB, all on', body_bytes: 65_536, scans: true, limits: true, one_in: 4 },
  { name: 'POST 1 MiB, all on', body_bytes: 1_048_576, scans: true, limits: true, one_in: 40 },
  { name: 'POST 1 MiB, scan off', body_bytes: 1_048_576, scans: false, limits: false, one_in: 20 },
  { name: 'event stream, all on', body_bytes: 0, scans: true, limits: true, streams: true },
]

async function benchWhole(print: (line: string) => void): Promise<void> {
  const { values } = parseArgs({
    options: {
      beside: { type: 'string' },
      threads: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      calls: { type: 'string', default: '4000' },
      large: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      idle: { type: 'string' },
    },
  })
  const rows = values.large ? [...ROWS, ...LARGE_ROWS] : ROWS
  const { load, upstream_port, stop: stopLoad } = await startLoad()
  let subjects: readonly Subject[] = []
  try {
    const beside = values.beside === undefined ? undefined : resolve(values.beside)
    subjects = await startSubjects(upstream_port, rows, { beside, threads: values.threads })
    print(settingsShown())
    if (values.idle !== undefined) {
      await measureIdle(subjects.filter(isProduct), Number(values.idle), print)
      return
    }
    for (const row of rows) {
      const calls = Math.ceil(Number(values.calls) / (row.one_in ?? 1))
      const plan = { load, rounds: Number(values.rounds), calls }
      const samples = await measureCpu(subjects, row, plan)
      report(row, samples, plan, print)
      const stages = stagesOf(samples)
      if (values.record) record(row, stages)
      else compare(row, stages, print)
    }
  } finally {
    for (const { stop } of subjects) await stop()
    stopLoad()
  }
}

/** What the product runs with: its defaults, which follow from the machine. */
function settingsShown(): string {
  const read = readSettings({})
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const shown = {
    AGW_EXT_PROC_WORKERS: read.settings.extProcWorkers,
    AGW_ENVOY_CONCURRENCY: read.settings.envoyConcurrency,
    cores: availableParallelism(),
  }
  return `default settings: ${Object.entries(shown)
    .map((pair) => pair.join(' '))
    .join(', ')}; Node.js ${process.versions.node}`
}

function report(
  { name }: Row,
  samples: ReadonlyMap<string, readonly CpuSample[]>,
  { rounds, calls }: Omit<Plan, 'load'>,
  print: (line: string) => void,
): void {
  print(`\n${name}: µs of CPU per call, medians of ${rounds} interleaved rounds of ${calls} calls`)
  const columns = ['', ...ROLES, 'whole', '× plain', '× answering', 'calls/s']
  const wholeOf = (subject: string): number => medianOf(samples.get(subject), 'whole')
  const rows = [...samples].map(([subject, all]) => [
    subject,
    ...ROLES.map((role) => medianOf(all, role).toFixed(0)),
    wholeOf(subject).toFixed(0),
    (wholeOf(subject) / wholeOf('plain Envoy')).toFixed(1),
    (wholeOf(subject) / wholeOf('answering processor')).toFixed(2),
    medianOf(all, 'rate').toFixed(0),
  ])
  for (const cells of [columns, columns.map(() => '---'), ...rows])
    print(`| ${cells.join(' | ')} |`)
}

/** Of the product, as multiples of plain Envoy. */
function stagesOf(samples: ReadonlyMap<string, readonly CpuSample[]>): Budget {
  const plain = medianOf(samples.get('plain Envoy'), 'whole')
  const product = samples.get('the product')
  return Object.fromEntries(
    [...ROLES, 'whole' as const].map((stage) => [
      stage,
      Math.round((medianOf(product, stage) / plain) * 100) / 100,
    ]),
  )
}

type Budgets = Readonly<Record<string, Budget>>

const readBudgets = (): Budgets => JSON.parse(readFileSync(BUDGET_FILE, 'utf8')) as Budgets

function record({ name }: Row, stages: Budget): void {
  const budgets = { ...readBudgets(), [name]: stages }
  writeFileSync(BUDGET_FILE, `${JSON.stringify(budgets, null, 2)}\n`)
}

function compare({ name }: Row, stages: Budget, print: (line: string) => void): void {
  const exceeded = exceededBudget(stages, readBudgets()[name] ?? {})
  if (exceeded.length > 0) process.exitCode = 1
  for (const { stage, measured, budget } of exceeded)
    print(
      styleText(
        'red',
        `above its budget: ${stage}, ${measured} × plain Envoy instead of ${budget}`,
      ),
    )
}

await benchWhole((line) => process.stdout.write(`${line}\n`))
