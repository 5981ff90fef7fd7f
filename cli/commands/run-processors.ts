import { LineOutput } from '../../core/system/line-output.ts'
import { type Environment, readSettings, type Settings } from '../../core/settings/settings.ts'
import { activeProcessors, extProcAddresses } from '../launcher/ext-proc-addresses.ts'
import { processLogLine } from '../launcher/process-log.ts'
import { PROGRAMS } from '../launcher/programs.ts'
import { type ChildSpec, Supervisor } from '../launcher/supervisor.ts'

/** An edge id has at most 64 characters; the number of the process needs a few of them. */
const EDGE_NAME_LIMIT = 58
/** What a process needs after its calls have ended or were cut. */
const STOP_MARGIN_MS = 5_000
const FAILED = 1

/**
 * `agw ext-proc --processes N`: as many ext-proc processes in the foreground, on consecutive addresses. One that dies or
 * hangs is restarted.
 * @returns the exit code
 */
export async function runProcessors(count: number, env: Environment): Promise<number> {
  const read = readSettings(env)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { settings } = read
  if (settings.extProcAddress === null)
    throw new Error('AGW_EXT_PROC_ADDRESS is required: the address of the first process.')
  if (settings.healthAddress !== null)
    throw new Error('AGW_HEALTH_ADDRESS is for one process. Do not set it with --processes.')
  let endWith: (code: number) => void = () => undefined
  const ended = new Promise<number>((resolve) => {
    endWith = resolve
  })
  const output = new LineOutput(1)
  const supervisor = new Supervisor({
    write: (line, child) => output.write(`${processLogLine('json', child, line)}\n`),
    giveUp: (why) => {
      process.stderr.write(`${why}\n`)
      endWith(FAILED)
    },
    silence_limit_ms: settings.watchdogTimeout_ms,
  })
  let stopWith: NodeJS.Signals = 'SIGTERM'
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      stopWith = signal
      endWith(0)
    })
  process.once('exit', () => supervisor.killAll())
  for (const spec of processorSpecs(count, settings, env)) void supervisor.start(spec)
  const code = await ended
  supervisor.beginStop()
  await supervisor.stop(() => true, settings.drainTimeout_ms + STOP_MARGIN_MS, stopWith)
  return code
}

const isSet = (env: Environment, name: string): boolean => (env[name] ?? '') !== ''

function processorSpecs(count: number, settings: Settings, env: Environment): ChildSpec[] {
  const addresses = extProcAddresses({ ...settings, extProcWorkers: count }, '')
  const edge = settings.edgeId.slice(0, EDGE_NAME_LIMIT)
  // As `agw envoy-config` divides them, which needs both settings.
  const isDivided = isSet(env, 'AGW_EXT_PROC_WORKERS') && isSet(env, 'AGW_ENVOY_CONCURRENCY')
  const active = isDivided ? activeProcessors({ ...settings, extProcWorkers: count }) : count
  return addresses.map((address, index) => ({
    name: `ext-proc-${index + 1}`,
    command: process.execPath,
    args: PROGRAMS['ext-proc'],
    env: {
      ...env,
      AGW_EXT_PROC_ADDRESS: address,
      AGW_EDGE_ID: `${edge}-${index + 1}`,
      AGW_EDGE_STANDBY: String(index >= active),
    },
    probe: 'ipc',
    sockets: address.startsWith('unix:') ? [address.slice('unix:'.length)] : [],
  }))
}
