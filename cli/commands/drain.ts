import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { askEnvoy } from '../launcher/ask-envoy.ts'
import { drainEnvoy } from '../launcher/drain-envoy.ts'

export interface DrainOptions {
  readonly envoyAdminSocket: string
  readonly timeout_ms: number
  /** Wait for SIGTERM or SIGINT before the drain begins. */
  readonly onStop: boolean
}

const POLL_MS = 100
const ASK_LIMIT_MS = 500
/** The stat prefix of the listener in envoy/bootstrap.yaml. */
const IN_FLIGHT = 'http.agents.downstream_rq_active'
/** Longer than the access log waits for its batch, see envoy/bootstrap.yaml. */
const LAST_BATCH_MS = 250

/**
 * `agw drain`: an Envoy of ours accepts no new connections and closes each one with its next response. Waits until its
 * calls have ended, or for as long as the options allow.
 * @returns how many calls are still in flight; null if Envoy does not answer
 */
export async function runDrain(options: DrainOptions): Promise<number | null> {
  const { envoyAdminSocket, timeout_ms, onStop } = options
  if (onStop) await stopSignal()
  await drainEnvoy(envoyAdminSocket)
  const deadline_ms = performance.now() + timeout_ms
  for (;;) {
    const left = await callsInFlight(envoyAdminSocket)
    if (left === null) return null
    if (left === 0) {
      await wait(LAST_BATCH_MS)
      return 0
    }
    if (performance.now() >= deadline_ms) return left
    await wait(POLL_MS)
  }
}

async function stopSignal(): Promise<void> {
  const idle = setInterval(() => undefined, 60_000)
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  clearInterval(idle)
}

async function callsInFlight(socketPath: string): Promise<number | null> {
  const text = await askEnvoy(socketPath, `/stats?filter=^${IN_FLIGHT}$`, ASK_LIMIT_MS)
  return text === null ? null : Number(/: (\d+)/.exec(text)?.[1] ?? 0)
}
