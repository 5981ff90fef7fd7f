import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AnomalyModel } from '../core/anomaly/anomaly-model.ts'
import { type Incident, stepIncident } from '../core/anomaly/incident.ts'
import { SCOPE_DEFAULTS } from '../core/catalogue/model.ts'

/**
 * Series of the Numenta Anomaly Benchmark that count events, with the number of counted things that make one call:
 * the others are temperatures, latencies and loads, which are no traffic.
 */
const SERIES = [
  ['realAWSCloudwatch/elb_request_count_8c0756.csv', 1],
  ['realKnownCause/nyc_taxi.csv', 20],
  ...['AAPL', 'AMZN', 'CRM', 'CVS', 'FB', 'GOOG', 'IBM', 'KO', 'PFE', 'UPS'].map(
    (name) => [`realTweets/Twitter_volume_${name}.csv`, 1] as const,
  ),
] as const

interface Slot {
  readonly at_ms: number
  readonly count: number
}

const timeOf = (text: string): number => Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`)

function readSeries(path: string): Slot[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [time = '', value = '0'] = line.split(',')
      return { at_ms: timeOf(time), count: Number(value) }
    })
}

interface Found {
  readonly alarms: readonly number[]
  readonly ready_ms: number
}

function alarmsOf(slots: readonly Slot[], per_call: number): Found {
  const alarms: number[] = []
  let incident: Incident | null = null
  let ready_ms = Number.POSITIVE_INFINITY
  const { alert_threshold } = SCOPE_DEFAULTS.anomaly_detection
  const model = new AnomalyModel({
    onScore: ({ score, at_ms, learning }) => {
      if (!learning) ready_ms = Math.min(ready_ms, at_ms)
      const step = stepIncident(incident, score, at_ms, { alert_threshold, auto_kill_threshold: 1 })
      incident = step.incident
      if (step.action !== null) alarms.push(at_ms)
    },
  })
  slots.forEach(({ at_ms, count }, n) => {
    const span_ms = (slots[n + 1]?.at_ms ?? at_ms + 300_000) - at_ms
    const calls = Math.round(count / per_call)
    for (let call = 0; call < calls; call++)
      model.observe(CALL, at_ms + Math.floor((span_ms * (call + 0.5)) / calls))
  })
  return { alarms, ready_ms }
}

const CALL = {
  agent_id: 'agt_nab',
  scope_id: 'scp_nab',
  integration_id: null,
  method: 'POST',
  endpoint: '/',
  outcome: 'passed',
  source_ip: null,
  bytes_in: 0,
  bytes_out: 0,
} as const

/** Scores the series that count events, from a copy of the benchmark. @param folder holds `data/` and `labels/` */
export function benchNab(print: (line: string) => void, folder: string): void {
  const windows = JSON.parse(
    readFileSync(join(folder, 'labels', 'combined_windows.json'), 'utf8'),
  ) as Record<string, [string, string][]>
  print('Numenta Anomaly Benchmark, the series that count events (frequency alone)')
  let all_windows = 0
  let all_found = 0
  let all_false = 0
  for (const [name, per_call] of SERIES) {
    const slots = readSeries(join(folder, 'data', name))
    const { alarms, ready_ms } = alarmsOf(slots, per_call)
    const labelled = (windows[name] ?? []).map(([from, to]) => [timeOf(from), timeOf(to)] as const)
    const judged = labelled.filter(([, to]) => to > ready_ms)
    const found = judged.filter(([from, to]) => alarms.some((at) => at >= from && at <= to)).length
    const wrong = alarms.filter(
      (at) => !labelled.some(([from, to]) => at >= from && at <= to),
    ).length
    const weeks = ((slots.at(-1)?.at_ms ?? 0) - ready_ms) / (7 * 86_400_000)
    print(
      `${name.padEnd(46)} windows found ${found} of ${judged.length}, alarms outside ${wrong} in ${weeks.toFixed(1)} weeks`,
    )
    all_windows += judged.length
    all_found += found
    all_false += wrong
  }
  print(`all: recall ${all_found} of ${all_windows}, alarms outside the windows ${all_false}`)
  print('')
}
