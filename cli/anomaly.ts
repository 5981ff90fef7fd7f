import { createReadStream, fstatSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable, type Writable } from 'node:stream'
import type { ActivityEntry } from '../core/activity/activity-entry.ts'
import { LEARNING_MS } from '../core/anomaly/anomaly-model.ts'
import { Replay, REPLAY_CALLS_MAX, type ReplayedScope } from '../core/anomaly/replay.ts'
import { SCOPE_DEFAULTS } from '../core/model.ts'
import { type AdminOptions, adminUrl } from './call-admin.ts'

const HOUR_MS = 3_600_000

export interface AnomalyReplayOptions extends AdminOptions {
  /** NDJSON of activity entries, `-` for standard input. Without it, what is piped in is read, else the admin API asked. */
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
 * `agw anomaly replay`: scores stored activity as the analyser would have, and prints for each scope what would have been
 * told of and what would have been killed, at the thresholds that are asked for and at others.
 * @returns the exit code
 * @throws with a sentence for the operator when the entries cannot be read
 */
export async function runAnomalyReplay(
  options: AnomalyReplayOptions,
  stdin: Readable,
  stdout: Writable,
  stderr: Writable,
): Promise<number> {
  const replay = new Replay({
    alert_threshold: options.alertThreshold ?? SCOPE_DEFAULTS.anomaly_detection.alert_threshold,
    auto_kill_threshold:
      options.killThreshold ?? SCOPE_DEFAULTS.anomaly_detection.auto_kill_threshold,
    learning_ms:
      options.learningHours === undefined ? LEARNING_MS : options.learningHours * HOUR_MS,
  })
  const lines = createInterface({ input: await open(options, stdin), crlfDelay: Infinity })
  let number = 0
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const entry = readEntry(line)
    if (entry === null) {
      stderr.write(`line ${number} is no activity entry\n`)
      return 1
    }
    if (!isWanted(entry, options)) continue
    if (!replay.add(entry)) {
      stderr.write(
        `There are more than ${REPLAY_CALLS_MAX} calls. Narrow them by --agent, --from or --to.\n`,
      )
      return 1
    }
  }
  const scopes = replay
    .run()
    .filter(({ scope_id }) => options.scope === undefined || scope_id === options.scope)
  if (options.output === 'json') stdout.write(`${JSON.stringify({ data: scopes })}\n`)
  else stdout.write(scopes.length === 0 ? 'No calls.\n' : scopes.map(textOf).join('\n'))
  return 0
}

async function open(options: AnomalyReplayOptions, stdin: Readable): Promise<Readable> {
  if (options.file === '-') return stdin
  if (options.file !== undefined) return createReadStream(options.file)
  if (options.url === undefined && options.token === undefined && isPiped(stdin)) return stdin
  const query = new URLSearchParams({ format: 'ndjson' })
  if (options.agent !== undefined) query.set('agent_id', options.agent)
  if (options.from !== undefined) query.set('from', options.from)
  if (options.to !== undefined) query.set('to', options.to)
  const token = options.token ?? process.env['AGW_TOKEN']
  if (!token)
    throw new Error('An admin token is needed: give --token, or set AGW_TOKEN; or give --file.')
  const url = `${adminUrl(options)}/admin/activity/export?${query.toString()}`
  const answer = await fetch(url, {
    redirect: 'error',
    headers: { authorization: `Bearer ${token}`, 'x-agw-client': 'cli' },
  }).catch((error: unknown) => {
    throw new Error(`${adminUrl(options)} does not answer: ${(error as Error).message}`)
  })
  if (answer.status !== 200 || answer.body === null)
    throw new Error(`the admin API answered ${answer.status}`)
  return Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
}

/** Whether a file or another program is at the other end, and not a terminal or nothing. */
function isPiped(stdin: Readable): boolean {
  const { fd } = stdin as { fd?: number }
  if (fd === undefined) return true
  const stat = fstatSync(fd)
  return stat.isFIFO() || stat.isFile() || stat.isSocket()
}

/** A line of an export, or of the archive, which has the entry in a member of its own. */
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

/** What a hand-made entry leaves out is not known. */
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

function textOf(scope: ReplayedScope): string {
  const { agent_id, agent_name, scope_id, calls, first_at, last_at } = scope
  const lines = [
    `agent ${agent_name ?? agent_id} (${agent_id}), scope ${scope_id}`,
    `  ${calls} calls from ${first_at} to ${last_at}`,
  ]
  if (scope.learning) lines.push('  still learning: no verdict yet')
  else {
    const highest =
      scope.highest_at === null
        ? ''
        : ` at ${scope.highest_at} (${scope.highest_types.join(', ') || 'several weak signs'})`
    lines.push(`  highest score ${scope.highest_score}${highest}`)
    for (const { at, score, types, normal_rpm, current_rpm, killed } of scope.incidents)
      lines.push(
        `  ${at} ${killed ? 'KILL ' : 'alert'} ${score.toFixed(3)} ${types.join(', ')}; ${normal_rpm} rpm usual, ${current_rpm} rpm then`,
      )
    const compared = scope.incidents_at.map(
      ({ threshold, incidents }) => `${threshold}: ${incidents}`,
    )
    lines.push(`  ${scope.incident_count} incidents, ${scope.kill_count} kills`)
    lines.push(`  incidents by threshold: ${compared.join(', ')}`)
  }
  return `${lines.join('\n')}\n`
}
