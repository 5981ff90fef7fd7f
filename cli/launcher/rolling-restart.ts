import { setTimeout as wait } from 'node:timers/promises'
import { counted } from '../terminal/counted.ts'
import { askEnvoy } from './ask-envoy.ts'
import type { Supervisor } from './supervisor.ts'

export interface RollingRestartParts {
  readonly supervisor: Pick<Supervisor, 'restart'>
  /** In the order in which they are restarted. */
  readonly names: readonly string[]
  /** Of Envoy's admin interface. */
  readonly envoySocket: string
  /** How long an old process may take to let its calls end. */
  readonly drain_ms: number
  readonly say: (line: string) => void
}

/** What a process needs beyond its drain: to be found out by Envoy, and to write what it has noted. */
const STOP_MARGIN_MS = 8_000
const READY_LIMIT_MS = 60_000
/** Several health checks of Envoy, on a machine that is busy with a start. */
const HEALTHY_LIMIT_MS = 30_000
const POLL_MS = 50
const ASK_LIMIT_MS = 1_000

/**
 * Restarts one process after the other. The next one is touched only when Envoy sees every processor and the access log
 * receiver as healthy again, so at each moment all but one serve.
 * @throws a sentence when a process does not come back; the ones after it are left as they are
 */
export async function rollingRestart(parts: RollingRestartParts): Promise<void> {
  const { supervisor, names, drain_ms, say } = parts
  const began_ms = performance.now()
  await allHealthy(parts)
  for (const name of names) {
    const at_ms = performance.now()
    await supervisor.restart(name, {
      stop_ms: drain_ms + STOP_MARGIN_MS,
      ready_ms: READY_LIMIT_MS,
    })
    await allHealthy(parts)
    say(`${name} was restarted in ${seconds(performance.now() - at_ms)}.`)
  }
  say(
    `Restarted ${counted(names.length, 'process', 'processes')} in ${seconds(performance.now() - began_ms)}. Envoy, the store and the launcher kept running.`,
  )
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

async function allHealthy({ envoySocket }: RollingRestartParts): Promise<void> {
  const deadline_ms = performance.now() + HEALTHY_LIMIT_MS
  while (!(await areHealthy(envoySocket))) {
    if (performance.now() > deadline_ms)
      throw new Error(
        `Envoy does not see all processes as healthy after ${HEALTHY_LIMIT_MS / 1000} s. Nothing further is restarted.`,
      )
    await wait(POLL_MS)
  }
}

const MEMBERSHIP =
  '/stats?format=json&filter=^cluster\\.(ext_proc|access_log)\\.membership_(healthy|total)$'

async function areHealthy(envoySocket: string): Promise<boolean> {
  const stats = await ask(envoySocket, MEMBERSHIP)
  const value = (cluster: string, which: string): number | undefined =>
    stats.find(({ name }) => name === `cluster.${cluster}.membership_${which}`)?.value
  return ['ext_proc', 'access_log'].every((cluster) => {
    const total = value(cluster, 'total')
    return total !== undefined && total === value(cluster, 'healthy')
  })
}

interface Stat {
  readonly name: string
  readonly value: number
}

/** An Envoy that does not answer says nothing about the health of anything. */
async function ask(socketPath: string, path: string): Promise<readonly Stat[]> {
  const text = await askEnvoy(socketPath, path, ASK_LIMIT_MS)
  if (text === null) return []
  try {
    return (JSON.parse(text) as { stats: Stat[] }).stats
  } catch {
    return []
  }
}
