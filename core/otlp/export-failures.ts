import type { Logger } from 'pino'
import type { AlertCause } from '../alerts/alert.ts'
import { raiseAlert } from '../alerts/raise-alert.ts'
import type { RedisClient } from '../redis/run-script.ts'

const PAUSE_MAX_MS = 30_000
/** How long an export may fail before an alert is raised. */
const ALERT_AFTER_MS = 60_000
/** The problem expires where no process exports any more. */
const PROBLEM_MS = 4 * PAUSE_MAX_MS

export interface ExportKind {
  readonly cause: Omit<AlertCause, 'occurrence'>
  /** The Redis key that says why the export fails. */
  readonly problem_key: string
  /** For the process log. */
  readonly failed: string
  readonly works_again: string
  /** The log has the first failure only, and each with another problem. */
  readonly is_logged_once: boolean
}

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
  readonly problem: string
  readonly pause_ms: number
  readonly until_ms: number
}

/** What fails of an export, since when, and when it is tried again. */
export class ExportFailures {
  readonly #kind: ExportKind
  readonly #parts: ExportFailuresParts
  readonly #failures = new Map<string, Failure>()

  constructor(kind: ExportKind, parts: ExportFailuresParts) {
    this.#kind = kind
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
    this.#failures.set(what, { since_ms, problem, pause_ms, until_ms: now_ms + wait_ms })
    if (!this.#kind.is_logged_once || last?.problem !== problem)
      log.warn({ of: what, problem, retry_in_s: wait_ms / 1000 }, this.#kind.failed)
    if (now_ms - since_ms >= alert_after_ms) await this.#alert(what, problem)
    return wait_ms
  }

  async worked(what: string): Promise<void> {
    if (!this.#failures.delete(what)) return
    this.#parts.log.info({ of: what }, this.#kind.works_again)
    if (this.#failures.size === 0) await this.#parts.redis.del(this.#kind.problem_key)
  }

  /** Forgets those that are gone. */
  keep(isThere: (what: string) => boolean): void {
    for (const what of this.#failures.keys()) if (!isThere(what)) this.#failures.delete(what)
  }

  async #alert(of: string, problem: string): Promise<void> {
    const { redis, organization_id, now, log } = this.#parts
    const { cause: about, problem_key } = this.#kind
    const cause: AlertCause = { ...about, occurrence: { of, problem } }
    try {
      const isKnown = (await redis.exists(problem_key)) === 1
      if (!isKnown) await raiseAlert(redis, organization_id, cause, now())
      await redis.set(problem_key, problem, 'PX', PROBLEM_MS)
    } catch (error) {
      log.warn({ err: error }, 'the alert about an export could not be raised')
    }
  }
}
