import type { Logger } from 'pino'
import type { AlertCause } from '../../core/alerts/alert.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

const PAUSE_MAX_MS = 30_000
/** How long an export may fail before an alert is raised. */
const ALERT_AFTER_MS = 60_000
/** The problem expires where no process exports any more. */
const PROBLEM_MS = 4 * PAUSE_MAX_MS

export interface ExportFailuresParts {
  readonly redis: RedisClient
  /** The organization that is alerted. */
  readonly organization_id: string
  readonly log: Logger
  readonly nowMs: () => number
  readonly now: () => Date
  /** The first pause; each further one is twice as long. */
  readonly pause_ms: number
  readonly alert_after_ms?: number
}

interface Failure {
  readonly since_ms: number
  readonly pause_ms: number
  readonly until_ms: number
}

/** What fails of the export, since when, and when it is tried again: the logs of some organizations, or of all. */
export class ExportFailures {
  readonly #parts: ExportFailuresParts
  readonly #failures = new Map<string, Failure>()

  constructor(parts: ExportFailuresParts) {
    this.#parts = parts
  }

  isPaused(what: string): boolean {
    const failure = this.#failures.get(what)
    return failure !== undefined && this.#parts.nowMs() < failure.until_ms
  }

  /** Logs the failure and alerts of one that lasts. Returns how long to wait, in ms. */
  async failed(what: string, problem: string, retry_after_ms: number): Promise<number> {
    const { nowMs, log, pause_ms: first_ms, alert_after_ms = ALERT_AFTER_MS } = this.#parts
    const now_ms = nowMs()
    const last = this.#failures.get(what)
    const since_ms = last?.since_ms ?? now_ms
    const pause_ms = Math.min(last === undefined ? first_ms : last.pause_ms * 2, PAUSE_MAX_MS)
    const wait_ms = Math.max(pause_ms, retry_after_ms)
    this.#failures.set(what, { since_ms, pause_ms, until_ms: now_ms + wait_ms })
    log.warn(
      { of: what, problem, retry_in_s: wait_ms / 1000 },
      'activity entries could not be exported',
    )
    if (now_ms - since_ms >= alert_after_ms) await this.#alert(what, problem)
    return wait_ms
  }

  async worked(what: string): Promise<void> {
    if (!this.#failures.delete(what)) return
    this.#parts.log.info({ of: what }, 'activity entries are exported again')
    if (this.#failures.size === 0) await this.#parts.redis.del(REDIS_KEYS.logExportProblem)
  }

  /** Forgets those that are gone. */
  keep(isThere: (what: string) => boolean): void {
    for (const what of this.#failures.keys()) if (!isThere(what)) this.#failures.delete(what)
  }

  async #alert(of: string, problem: string): Promise<void> {
    const { redis, organization_id, now, log } = this.#parts
    const cause: AlertCause = {
      kind: 'log_export_failing',
      severity: 'high',
      about: 'log_export',
      title: 'Activity entries cannot be exported.',
      occurrence: { of, problem },
    }
    try {
      const isKnown = (await redis.exists(REDIS_KEYS.logExportProblem)) === 1
      if (!isKnown) await raiseAlert(redis, organization_id, cause, now())
      await redis.set(REDIS_KEYS.logExportProblem, problem, 'PX', PROBLEM_MS)
    } catch (error) {
      log.warn({ err: error }, 'the alert about the export of the activity log could not be raised')
    }
  }
}
