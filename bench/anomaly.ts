import { parseArgs } from 'node:util'
import { AnomalyModel } from '../core/anomaly/anomaly-model.ts'
import type { ScopeScore } from '../core/anomaly/anomaly-type.ts'
import { type Incident, stepIncident } from '../core/anomaly/incident.ts'
import type { ScopeModelState } from '../core/anomaly/scope-model.ts'
import { SCOPE_DEFAULTS } from '../core/catalogue/model.ts'
import { ATTACKS, type Attack } from './anomaly-attacks.ts'
import {
  Chance,
  chooseHabits,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  RHYTHMS,
  type Rhythm,
  type TimedCall,
  Traffic,
} from './anomaly-traffic.ts'

/** The model was made while looking at seeds below 100; the figures are of others. */
const SEEDS = [101, 102, 103, 104, 105]
const HARMLESS_DAYS = 28
const LEARNED_DAYS = 15
const WATCHED_AFTER_MS = 10 * MINUTE_MS
const THRESHOLDS = {
  alert_threshold: SCOPE_DEFAULTS.anomaly_detection.alert_threshold,
  auto_kill_threshold: 1,
}
const AGENT = 'agt_bench'
const SCOPE = 'scp_bench'

/** A model of one scope, with the incidents that it opened. */
class Watch {
  readonly model: AnomalyModel
  readonly opened: ScopeScore[] = []
  ticks = 0
  #incident: Incident | null = null

  constructor(state?: ScopeModelState) {
    this.model = new AnomalyModel({ onScore: (score) => this.#step(score) })
    if (state === undefined) return
    this.model.resumeAt(state.tick_ms)
    this.model.restore(AGENT, SCOPE, state)
  }

  #step(score: ScopeScore): void {
    this.ticks++
    const { incident, action } = stepIncident(this.#incident, score.score, score.at_ms, THRESHOLDS)
    this.#incident = incident
    if (action !== null) this.opened.push(score)
  }

  feed(calls: readonly TimedCall[]): void {
    for (const { call, at_ms } of calls) {
      const placed = this.model.place(call)
      if (placed !== null) this.model.observe(placed, at_ms)
    }
  }
}

interface Row {
  readonly cells: readonly (string | number)[]
}

function printTable(
  print: (line: string) => void,
  head: readonly string[],
  rows: readonly Row[],
): void {
  const lines = [head, ...rows.map(({ cells }) => cells.map(String))]
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => String(line[column]).length)),
  )
  for (const line of lines)
    print(
      line
        .map((cell, column) =>
          column === 0
            ? String(cell).padEnd(widths[column] as number)
            : String(cell).padStart(widths[column] as number),
        )
        .join('  '),
    )
  print('')
}

const byTime = (a: TimedCall, b: TimedCall): number => a.at_ms - b.at_ms
const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`

function runUsual(traffic: Traffic, watch: Watch, until_ms: number): number {
  let calls = 0
  while (traffic.now_ms < until_ms) {
    const now_ms = traffic.now_ms
    const minute = traffic.minute()
    const denials = traffic.denials(now_ms)
    calls += minute.length + denials.length
    watch.feed(denials.length === 0 ? minute : [...minute, ...denials].sort(byTime))
  }
  return calls
}

interface HarmlessResult {
  readonly weeks: number
  readonly alarms: readonly ScopeScore[]
  readonly calls: number
  readonly ticks: number
}

function runHarmless(rhythm: Rhythm, seed: number, base_rpm: number | null): HarmlessResult {
  const chance = new Chance(seed)
  const habits = chooseHabits(rhythm, chance)
  const traffic = new Traffic(base_rpm === null ? habits : { ...habits, base_rpm }, chance)
  const watch = new Watch()
  const calls = runUsual(traffic, watch, traffic.habits.first_ms + HARMLESS_DAYS * DAY_MS)
  return { weeks: (HARMLESS_DAYS - 2) / 7, alarms: watch.opened, calls, ticks: watch.ticks }
}

function benchHarmless(
  print: (line: string) => void,
  seeds: readonly number[],
  agents: number,
  verbose: boolean,
  base_rpm: number | null,
): number {
  print(
    `Harmless traffic: ${agents} agents of each kind for ${HARMLESS_DAYS} days, learning included`,
  )
  const rows: Row[] = []
  let all_alarms = 0
  let all_weeks = 0
  for (const rhythm of RHYTHMS) {
    const begin_ms = performance.now()
    let weeks = 0
    let alarms = 0
    let calls = 0
    let ticks = 0
    for (let n = 0; n < agents; n++) {
      const seed = (seeds[n % seeds.length] as number) * 1000 + n * 10 + RHYTHMS.indexOf(rhythm)
      const result = runHarmless(rhythm, seed, base_rpm)
      if (verbose)
        for (const alarm of result.alarms)
          print(
            `  ${rhythm} seed ${seed} ${JSON.stringify(alarm)} ${new Date(alarm.at_ms).toISOString()}`,
          )
      weeks += result.weeks
      alarms += result.alarms.length
      calls += result.calls
      ticks += result.ticks
    }
    const took_ms = performance.now() - begin_ms
    rows.push({
      cells: [
        rhythm,
        weeks.toFixed(0),
        calls,
        alarms,
        (alarms / weeks).toFixed(3),
        (took_ms / weeks / 1000).toFixed(2),
        ((1000 * took_ms) / (calls + ticks)).toFixed(2),
      ],
    })
    all_alarms += alarms
    all_weeks += weeks
  }
  rows.push({
    cells: [
      'all',
      all_weeks.toFixed(0),
      '',
      all_alarms,
      (all_alarms / all_weeks).toFixed(3),
      '',
      '',
    ],
  })
  printTable(
    print,
    [
      'rhythm',
      'agent-weeks',
      'calls',
      'false alarms',
      'per agent-week',
      's per week',
      'µs per call or score',
    ],
    rows,
  )
  return all_alarms / all_weeks
}

interface AttackResult {
  readonly kind: string
  readonly found: boolean
  readonly false_alarms: number
  readonly after_s: number
  readonly types: readonly string[]
}

/** A day of an agent that has been learned, with the attack in it. */
function runAttack(
  attack: Attack,
  state: ScopeModelState,
  learned: Traffic,
  seed: number,
): AttackResult {
  const chance = new Chance(seed)
  const watch = new Watch(state)
  const traffic = new Traffic(learned.habits, chance, learned)
  const attacker = new Chance(seed + 7)
  const begin_ms =
    traffic.now_ms + attacker.whole(60, 18 * 60) * MINUTE_MS + attacker.whole(0, 59_999)
  const end_ms = begin_ms + attack.lasts_ms
  const rpm = traffic.workingRpm(begin_ms)
  const day_end_ms = Math.max(traffic.now_ms + DAY_MS, end_ms + HOUR_MS)
  while (traffic.now_ms < day_end_ms) {
    const now_ms = traffic.now_ms
    const calls = [...traffic.minute(), ...traffic.denials(now_ms)]
    for (let at_ms = begin_ms; at_ms < end_ms; at_ms += MINUTE_MS)
      if (at_ms >= now_ms && at_ms < now_ms + MINUTE_MS)
        calls.push(...attack.add(at_ms, rpm, traffic.call(), attacker))
    watch.feed(calls.sort(byTime))
  }
  const hits = watch.opened.filter(
    ({ at_ms }) => at_ms >= begin_ms && at_ms <= end_ms + WATCHED_AFTER_MS,
  )
  const [first] = hits
  return {
    kind: traffic.habits.rhythm,
    found: first !== undefined,
    false_alarms: watch.opened.length - hits.length,
    after_s: first === undefined ? Number.NaN : (first.at_ms - begin_ms) / 1000,
    types: first?.types ?? [],
  }
}

function benchAttacks(
  print: (line: string) => void,
  seeds: readonly number[],
  agents: number,
  verbose: boolean,
): void {
  print(
    `Attacks: ${agents} agents of each kind, each learned for ${LEARNED_DAYS} days, then one day with each attack`,
  )
  const results = new Map<string, AttackResult[]>(ATTACKS.map(({ name }) => [name, []]))
  for (const rhythm of RHYTHMS) {
    for (let n = 0; n < agents; n++) {
      const seed =
        (seeds[n % seeds.length] as number) * 1000 + 500 + n * 10 + RHYTHMS.indexOf(rhythm)
      const chance = new Chance(seed)
      const learned = new Traffic(chooseHabits(rhythm, chance), chance)
      const watch = new Watch()
      runUsual(learned, watch, learned.habits.first_ms + LEARNED_DAYS * DAY_MS)
      const state = watch.model.scope(AGENT, SCOPE)?.state
      if (state === undefined) continue
      for (const attack of ATTACKS) {
        const result = runAttack(attack, state, learned, seed + ATTACKS.indexOf(attack) * 13)
        results.get(attack.name)?.push(result)
        if (verbose && !result.found)
          print(`  missed: ${attack.name}, ${rhythm}, ${JSON.stringify(learned.habits)}`)
      }
    }
  }
  const rows = [...results].map(([name, found]) => attackRow(name, found))
  rows.push(attackRow('all', [...results.values()].flat()))
  printTable(
    print,
    ['attack', 'days', 'recall', 'precision', 'median s', 'p90 s', 'named most'],
    rows,
  )
}

function attackRow(name: string, results: readonly AttackResult[]): Row {
  const found = results.filter((result) => result.found)
  const false_alarms = results.reduce((sum, result) => sum + result.false_alarms, 0)
  const times = found.map(({ after_s }) => after_s).sort((a, b) => a - b)
  const at = (share: number): string =>
    times[Math.floor(share * (times.length - 1))]?.toFixed(0) ?? '-'
  const named = new Map<string, number>()
  for (const { types } of found)
    for (const type of types) named.set(type, (named.get(type) ?? 0) + 1)
  const most = [...named]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 2)
    .map(([type]) => type)
  return {
    cells: [
      name,
      results.length,
      percent(found.length, results.length),
      percent(found.length, found.length + false_alarms),
      at(0.5),
      at(0.9),
      most.join(', '),
    ],
  }
}

const BURST_RPMS = [6, 12, 20, 30, 60, 120, 300, 600]
const BURST_STARTS = 20

/** Seconds from the first call of a tenfold burst to the alert, by the rate before it. */
function benchBurst(print: (line: string) => void, seeds: readonly number[]): void {
  print(
    `Time to detection of a burst of 10 times the rate, steady agents, ${seeds.length} × ${BURST_STARTS} bursts`,
  )
  const rows = BURST_RPMS.map((rpm) => {
    const all: (number | null)[] = []
    for (const seed of seeds) all.push(...burstTimes(rpm, seed))
    const times = all.filter((time) => time !== null).sort((a, b) => a - b)
    const at = (share: number): string =>
      (times[Math.floor(share * (times.length - 1))] ?? Number.NaN).toFixed(1)
    const within = times.filter((s) => s < 15).length
    const told = all.length - times.length
    return { cells: [`${rpm} rpm`, at(0.5), at(0.95), at(1), percent(within, times.length), told] }
  })
  const head = ['rate before', 'median s', 'p95 s', 'longest s', 'under 15 s', 'told of before']
  printTable(print, head, rows)
}

/** Seconds to the alert; null if the burst fell into an incident that had already been reported. */
function burstTimes(rpm: number, seed: number): (number | null)[] {
  const chance = new Chance(seed * 7919 + rpm)
  const steady = { ...chooseHabits('steady', chance), base_rpm: rpm, growth_per_day: 0 }
  const learned = new Traffic(steady, chance)
  const watch = new Watch()
  runUsual(learned, watch, steady.first_ms + 8 * DAY_MS)
  const state = watch.model.scope(AGENT, SCOPE)?.state
  if (state === undefined) return []
  return Array.from({ length: BURST_STARTS }, (_, n) => {
    const traffic = new Traffic(steady, new Chance(seed + n), learned)
    const attacker = new Chance(seed * 31 + n)
    const attacked = new Watch(state)
    runUsual(traffic, attacked, traffic.now_ms + HOUR_MS)
    if (attacked.opened.length > 0) return null
    const begin_ms = traffic.now_ms + attacker.whole(0, 59_999)
    for (let minute = 0; minute < 10; minute++) {
      const calls = traffic.minute()
      const at_ms = begin_ms + minute * MINUTE_MS
      const burst = Array.from({ length: attacker.poisson(9 * rpm) }, () => ({
        at_ms: at_ms + attacker.whole(0, MINUTE_MS - 1),
        call: traffic.call(),
      }))
      attacked.feed([...calls, ...burst].sort(byTime))
    }
    const alert = attacked.opened.find(({ at_ms }) => at_ms >= begin_ms)
    return alert === undefined ? Number.POSITIVE_INFINITY : (alert.at_ms - begin_ms) / 1000
  })
}

/** Prints what anomaly detection finds and how often it errs, on traffic that is labelled because it is made. */
export function benchAnomaly(print: (line: string) => void, args: readonly string[]): void {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      agents: { type: 'string', default: '10' },
      verbose: { type: 'boolean', default: false },
      only: { type: 'string' },
      /** The base rate of all harmless agents, in place of one of their own. */
      rpm: { type: 'string' },
    },
  })
  const seeds = values.seeds?.split(',').map(Number) ?? SEEDS
  const agents = Number(values.agents)
  const runs = (part: string): boolean => values.only === undefined || values.only === part
  const base_rpm = values.rpm === undefined ? null : Number(values.rpm)
  if (runs('harmless')) benchHarmless(print, seeds, agents, values.verbose, base_rpm)
  if (runs('attacks')) benchAttacks(print, seeds, agents, values.verbose)
  if (runs('burst')) benchBurst(print, seeds)
}

if (import.meta.filename === process.argv[1])
  benchAnomaly((line) => void process.stdout.write(`${line}\n`), process.argv.slice(2))
