import { once } from 'node:events'
import { createReadStream, fstatSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable, type Writable } from 'node:stream'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { LEARNING_MS } from '../../core/anomaly/anomaly-model.ts'
import { LEARNING_CALLS } from '../../core/anomaly/scope-model.ts'
import type { Thresholds } from '../../core/anomaly/incident.ts'
import {
  INCIDENTS_SHOWN_MAX,
  Replay,
  REPLAY_CALLS_MAX,
  type ReplayedScope,
} from '../../core/anomaly/replay.ts'
import { SCOPE_DEFAULTS } from '../../core/catalogue/model.ts'
import { type AdminOptions, givenAccess, TOKEN_REQUIRED } from '../deployment/admin-access.ts'
import { messageOf } from '../deployment/call-admin.ts'
import { counted } from '../terminal/counted.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'

const HOUR_MS = 3_600_000

export interface AnomalyReplayOptions extends AdminOptions {
  /**
   * NDJSON of activity entries, `-` for standard input. Without it the entries come from the admin API or, without a
   * token, from standard input.
   */
  readonly file?: string
  readonly agent?: string
  readonly scope?: string
  readonly from?: string
  readonly to?: string
  readonly alertThreshold?: number
  readonly killThreshold?: number
  readonly learningHours?: number
}

/**
 * `agw anomaly replay`: scores stored activity as the analyser would have, and prints which alerts and kills each scope
 * would have caused at the given thresholds and at others.
 * @returns the exit code
 * @throws with a message for the operator when the entries cannot be read
 */
export async function runAnomalyReplay(
  options: AnomalyReplayOptions,
  stdin: Readable,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const thresholds = {
    alert_threshold: options.alertThreshold ?? SCOPE_DEFAULTS.anomaly_detection.alert_threshold,
    auto_kill_threshold:
      options.killThreshold ?? SCOPE_DEFAULTS.anomaly_detection.auto_kill_threshold,
  }
  const { scope, output } = options
  const learning_hours = options.learningHours ?? LEARNING_MS / HOUR_MS
  const replay = new Replay({ ...thresholds, learning_ms: learning_hours * HOUR_MS })
  const problem = await readInto(replay, options, stdin)
  if (problem !== null) {
    stderr.write(`${problem}\n`)
    return 1
  }
  const scopes = replay.run().filter(({ scope_id }) => scope === undefined || scope_id === scope)
  if (output === 'json')
    stdout.write(`${terminalJson({ ...thresholds, learning_hours, data: scopes })}\n`)
  else if (scopes.length === 0) stdout.write(NOTHING)
  else stdout.write(terminalLines(tableOf(scopes, thresholds, learning_hours)))
  return 0
}

const NOTHING = 'No calls of agents found. Only calls that matched a scope are scored.\n'

/** Returns what is wrong with the entries, or null. */
async function readInto(
  replay: Replay,
  options: AnomalyReplayOptions,
  stdin: Readable,
): Promise<string | null> {
  const lines = createInterface({ input: await open(options, stdin), crlfDelay: Infinity })
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const entry = readEntry(line)
    if (entry === null) return `line ${number} is not an activity entry`
    if (isWanted(entry, options) && !replay.add(entry))
      return `There are more than ${REPLAY_CALLS_MAX} calls. Narrow the selection with --agent, --from or --to.`
  }
  return null
}

async function open(options: AnomalyReplayOptions, stdin: Readable): Promise<Readable> {
  if (options.file === '-') return stdin
  if (options.file !== undefined) return await openFile(options.file)
  const { url, token } = givenAccess(options, process.env)
  // With a token the admin API is used: the parent process may leave standard input open for ever.
  if (token === null && options.url === undefined && isPiped(stdin)) return stdin
  if (token === null) throw new Error(`${TOKEN_REQUIRED} Or use --file.`)
  const query = new URLSearchParams({ format: 'ndjson' })
  if (options.agent !== undefined) query.set('agent_id', options.agent)
  if (options.from !== undefined) query.set('from', new Date(options.from).toISOString())
  if (options.to !== undefined) query.set('to', new Date(options.to).toISOString())
  const answer = await fetch(`${url}/admin/activity/export?${query.toString()}`, {
    redirect: 'error',
    headers: { authorization: `Bearer ${token}`, 'x-agw-client': 'cli' },
  }).catch((error: unknown) => {
    const cause = (error as { cause?: { message?: string } }).cause?.message
    throw new Error(`${url} is unreachable: ${cause ?? (error as Error).message}`)
  })
  if (answer.status !== 200 || answer.body === null) {
    const body: unknown = await answer.json().catch(() => null)
    throw new Error(messageOf({ status: answer.status, body }))
  }
  return Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
}

async function openFile(path: string): Promise<Readable> {
  const stream = createReadStream(path)
  await once(stream, 'open').catch((error: unknown) => {
    throw new Error(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  })
  return stream
}

/** Whether standard input is a file or a pipe, not a terminal. */
function isPiped(stdin: Readable): boolean {
  const { fd } = stdin as { fd?: number }
  if (fd === undefined) return true
  const stat = fstatSync(fd)
  return stat.isFIFO() || stat.isFile() || stat.isSocket()
}

/** A line of an export is an entry; a line of the archive has the entry in its member `entry`. */
function readEntry(line: string): ActivityEntry | null {
  try {
    const value = JSON.parse(line) as (ActivityEntry & { entry?: unknown }) | null
    const entry = (value?.entry ?? value) as ActivityEntry | null
    if (typeof entry?.event === 'string' && typeof entry.timestamp === 'string')
      return complete(entry)
    return typeof value?.entry === 'object' ? complete(value.entry as ActivityEntry) : null
  } catch {
    return null
  }
}

/** Members that a hand-written entry omits are null. */
const complete = (entry: Partial<ActivityEntry>): ActivityEntry =>
  ({
    agent_id: null,
    agent_name: null,
    scope_id: null,
    integration_id: null,
    method: null,
    endpoint: null,
    status: null,
    decision: null,
    reason: null,
    source_ip: null,
    bytes_in: null,
    bytes_out: null,
    ...entry,
  }) as ActivityEntry

function isWanted(entry: ActivityEntry, { agent, from, to }: AnomalyReplayOptions): boolean {
  if (agent !== undefined && entry.agent_id !== agent) return false
  const at_ms = Date.parse(entry.timestamp)
  if (from !== undefined && at_ms < Date.parse(from)) return false
  return to === undefined || at_ms < Date.parse(to)
}

function tableOf(
  scopes: readonly ReplayedScope[],
  { alert_threshold, auto_kill_threshold }: Thresholds,
  learning_hours: number,
): string {
  const kill = auto_kill_threshold < 1 ? `at ${auto_kill_threshold}` : 'never'
  const sum = (count: (scope: ReplayedScope) => number): number =>
    scopes.reduce((total, scope) => total + count(scope), 0)
  const head = `Alert at ${alert_threshold}, kill ${kill}, after ${counted(learning_hours, 'hour')} of learning.`
  const foot = [
    `scopes: ${scopes.length}`,
    `calls: ${sum(({ calls }) => calls)}`,
    `incidents: ${sum(({ incident_count }) => incident_count)}`,
    `kills: ${sum(({ kill_count }) => kill_count)}`,
  ].join(', ')
  return `${[head, '', ...scopes.map((scope) => textOf(scope, learning_hours)), foot].join('\n')}\n`
}

function textOf(scope: ReplayedScope, learning_hours: number): string {
  const { agent_id, agent_name, scope_id, calls, first_at, last_at } = scope
  const lines = [
    `agent ${agent_name ?? agent_id} (${agent_id}), scope ${scope_id}`,
    `  ${counted(calls, 'call')} from ${first_at} to ${last_at}`,
  ]
  if (scope.learning)
    lines.push(
      `  still learning, no verdict: requires ${counted(learning_hours, 'hour')} and ${LEARNING_CALLS} calls`,
    )
  else lines.push(...verdictsOf(scope))
  return `${lines.join('\n')}\n`
}

function verdictsOf(scope: ReplayedScope): string[] {
  const { highest_at, highest_score, highest_types, incidents, incident_count } = scope
  const names = (types: readonly string[]): string => types.join(', ') || 'several weak signs'
  const lines = incidents.map(
    ({ at, score, types, normal_rpm, current_rpm, killed }) =>
      `  ${at}  ${killed ? 'kill ' : 'alert'}  ${score.toFixed(3)}  ${names(types)}: ${current_rpm}/min, baseline ${normal_rpm}/min`,
  )
  if (incidents.length === INCIDENTS_SHOWN_MAX)
    lines.push(`  … these are the first of ${incident_count} incidents`)
  if (highest_at !== null)
    lines.push(`  highest score ${highest_score} at ${highest_at}: ${names(highest_types)}`)
  const compared = scope.incidents_at.map(({ threshold, incidents: n }) => `${n} at ${threshold}`)
  return [...lines, `  incidents by alert threshold: ${compared.join(', ')}`]
}
