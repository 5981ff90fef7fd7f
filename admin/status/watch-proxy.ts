import type { Logger } from 'pino'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { resolveAlert } from '../../core/alerts/resolve-alert.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'
import { NOT_PROBED, type ProbedPlace, probedUrl, probeProxy } from './probe-proxy.ts'

const INTERVAL_MS = 10_000
/** Probes in a row: a minute, longer than a restart takes. */
const UNANSWERED_MAX = 6

export interface ProxyWatch {
  readonly redis: RedisClient
  readonly settings: ProbedPlace
  /** The organization that gets the alert. */
  readonly organization_id: string
  readonly log: Pick<Logger, 'error' | 'warn'>
  readonly interval_ms?: number
}

/** Raises an alert when probes of the proxy are not answered. Returns the function that stops them. */
export function watchProxy(parts: ProxyWatch): () => Promise<void> {
  const { redis, settings, organization_id, log, interval_ms = INTERVAL_MS } = parts
  const about = `proxy_unanswered ${probedUrl(settings).href}`
  let unanswered = 0
  const check = async (): Promise<void> => {
    const problem = await probeProxy(settings, redis)
    if (problem === NOT_PROBED) return
    if (problem === null) {
      unanswered = 0
      const resolution = 'The proxy answers probes again.'
      return await resolveAlert(redis, organization_id, about, { resolution, at: new Date() })
    }
    if (++unanswered < UNANSWERED_MAX) return
    const title = `Probes of the proxy are not answered: ${problem}. Agents may not reach the gateway. See /readyz and agw doctor.`
    if (unanswered === UNANSWERED_MAX) log.error(title)
    const cause = { about, kind: 'proxy_unanswered', severity: 'critical', title } as const
    await raiseAlert(redis, organization_id, { ...cause, occurrence: { problem } }, new Date())
  }
  return repeatWork(interval_ms, check, (error) =>
    log.warn({ err: error }, 'the alert about the proxy is late; it will be retried'),
  )
}
