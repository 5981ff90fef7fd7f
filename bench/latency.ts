import type { ChildProcess } from 'node:child_process'
import { parseArgs } from 'node:util'
import type { LoadOrder, LoadResult } from './load.ts'
import { requestOf } from './request-of.ts'
import { GET_UNCHECKED, POST_ALL_ON } from './rows.ts'
import { askLoad, startLoad } from './start-load.ts'
import { type Row, startSubjects, type Subject } from './subjects.ts'
import { quantile } from './quantile.ts'

/**
 * How much later a response arrives than through plain Envoy, at 10, 50 and 80 % of the rate at which the product is saturated: p50, p99 and
 * p99.9, each call counted from when it was due.
 *
 *   npm run bench -- latency [--rounds N] [--seconds N]
 */

/** Of the closed loop that measures the saturation. */
const CONNECTIONS = 32
const SATURATION_CALLS = 12_000
/** More than are ever busy below saturation. */
const PACED_CONNECTIONS = 128
const SHARES = [0.1, 0.5, 0.8]
const PERCENTILES = [0.5, 0.99, 0.999]

const ROWS: readonly Row[] = [POST_ALL_ON, GET_UNCHECKED]

async function benchLatency(print: (line: string) => void): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '4' },
    },
  })
  const { load, upstream_port, stop: stopLoad } = await startLoad()
  let subjects: readonly Subject[] = []
  try {
    subjects = await startSubjects(upstream_port, ROWS)
    for (const row of ROWS) {
      const saturation = await saturationOf(load, subjects, row)
      print(`\n${row.name}: saturated at ${saturation.toFixed(0)} calls/s; ms`)
      print(`| calls/s | | p50 | p99 | p99.9 | p50 added | p99 added | p99.9 added |`)
      print('|---|---|---|---|---|---|---|---|')
      for (const share of SHARES) {
        const per_second = saturation * share
        const plan = {
          load,
          per_second,
          seconds: Number(values.seconds),
          rounds: Number(values.rounds),
        }
        report(await measure(subjects, row, plan), per_second, print)
      }
    }
  } finally {
    for (const { stop } of subjects) await stop()
    stopLoad()
  }
}

async function ask(load: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  const result = await askLoad(load, order)
  if (result.failed > 0) throw new Error(`${result.failed} calls failed`)
  return result
}

/** Calls a second of the product in a closed loop, after a first round that warms all up. */
async function saturationOf(
  load: ChildProcess,
  subjects: readonly Subject[],
  row: Row,
): Promise<number> {
  let rate = 0
  for (const subject of [...subjects, ...subjects]) {
    const order = { port: subject.port, connections: CONNECTIONS, calls: SATURATION_CALLS }
    const { took_ms } = await ask(load, { ...order, request: requestOf(subject, row) })
    if (subject.name === 'the product') rate = (SATURATION_CALLS / took_ms) * 1000
  }
  return rate
}

interface Plan {
  readonly load: ChildProcess
  readonly per_second: number
  readonly seconds: number
  readonly rounds: number
}

/** By subject, the median over the rounds of each percentile. */
async function measure(
  subjects: readonly Subject[],
  row: Row,
  { load, per_second, seconds, rounds }: Plan,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, number[][]>(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) {
      const calls = Math.ceil(per_second * seconds)
      const order = { port: subject.port, connections: PACED_CONNECTIONS, calls, per_second }
      const { latencies_ms } = await ask(load, { ...order, request: requestOf(subject, row) })
      found.get(subject.name)?.push(PERCENTILES.map((share) => quantile(latencies_ms, share)))
    }
  return new Map(
    [...found].map(([name, all]) => [
      name,
      PERCENTILES.map((_, i) =>
        quantile(
          all.map((one) => one[i] ?? Number.NaN).sort((a, b) => a - b),
          0.5,
        ),
      ),
    ]),
  )
}

function report(
  percentiles: ReadonlyMap<string, readonly number[]>,
  per_second: number,
  print: (line: string) => void,
): void {
  const plain = percentiles.get('plain Envoy') ?? []
  for (const [subject, values] of percentiles) {
    const added = values.map((value, i) => (value - (plain[i] ?? Number.NaN)).toFixed(2))
    const cells = [subject, ...values.map((value) => value.toFixed(2)), ...added]
    print(`| ${per_second.toFixed(0)} | ${cells.join(' | ')} |`)
  }
}

await benchLatency((line) => process.stdout.write(`${line}\n`))
