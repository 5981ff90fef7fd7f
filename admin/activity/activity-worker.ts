import type { Logger } from 'pino'
import { lease } from '../../core/redis/lease.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { resolveAlerts } from '../alerts/resolve-alerts.ts'
import { sendAlertNotices } from '../alerts/send-alert-notices.ts'
import type { Mailer } from '../alerts/mailer.ts'
import type { LogWatch } from '../context/log-watch.ts'
import type { RequestLoad } from '../context/request-load.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import { type DigestPlace, digestLog, readDigestPlace } from './digest-log.ts'
import { keepSchedules } from './keep-schedules.ts'
import { tellFloods } from './tell-floods.ts'
import { keepWithinBudget, type Retention } from './log-budget.ts'

/** One process indexes; if it ends without releasing the lease, another takes over after this time. */
const LEADERSHIP_MS = 5_000
const IDLE_MS = 250
/** Far shorter than the lease, so that no other process becomes the leader between two renewals. */
const RENEWAL_MS = LEADERSHIP_MS / 2.5
/** A backlog is indexed for this long before leadership and the other jobs are checked. */
const DIGEST_MS = 500
/** An idle round sends one command per organization. */
const IDLE_PER_ORGANIZATION_MS = 1
const NOTICE_INTERVAL_MS = 2_000
const FLOODS_INTERVAL_MS = 2_000
const BUDGET_INTERVAL_MS = 30_000
/** Jobs whose failure is remembered; beyond that, every failure is logged. */
const FAILING_MAX = 1_000

export interface ActivityWorkerParts {
  readonly redis: RedisClient
  readonly name: string
  readonly mailer: Mailer | null
  /** Tells organizations of requests that wait. */
  readonly mailRequests: (organization_ids: readonly string[]) => Promise<void>
  readonly retention: Retention
  readonly metrics: AdminMetrics
  readonly load: RequestLoad
  readonly logs: LogWatch
  readonly log: Logger
  readonly nowMs: () => number
  readonly now: () => Date
}

/**
 * The jobs of one admin process at a time: indexes, alerts and their e-mails, retention. Leadership saves
 * work and is no lock: each step is safe when two do it at once. Returns the function that stops it.
 */
export function startActivityWorker(parts: ActivityWorkerParts): () => Promise<void> {
  const stopped = new AbortController()
  const running = run(parts, stopped.signal)
  return async () => {
    stopped.abort()
    await running
  }
}

async function run(parts: ActivityWorkerParts, stopped: AbortSignal): Promise<void> {
  const { redis, log, nowMs, now } = parts
  const due = { notices: 0, budget: 0, floods: 0 }
  let led: Led = { until_ms: 0, organization_ids: [], places: new Map() }
  const failing = new Set<string>()
  let sending: Promise<unknown> | null = null
  const cursors = new Map<string, string>()
  /** One failing job must not stop the others; its first failure is logged. */
  const attempt = async <T>(job: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      const done = await work()
      failing.delete(job)
      return done
    } catch (error) {
      if (!failing.has(job) && !stopped.aborted)
        log.warn({ err: error }, `${job} failed; it will be retried`)
      if (failing.size < FAILING_MAX) failing.add(job)
      return null
    }
  }
  while (!stopped.aborted) {
    let pause_ms = RENEWAL_MS
    const { mark } = parts.logs
    const isLeader = await attempt('electing the leader for the activity log', async () => {
      if (nowMs() < led.until_ms) return true
      const asked_ms = nowMs()
      const [held, organization_ids] = await Promise.all([
        lease.hold(redis, REDIS_KEYS.activityLeader, parts.name, LEADERSHIP_MS),
        redis.hkeys(REDIS_KEYS.organizations),
      ])
      if (held === 'not ours') return null
      led = { until_ms: asked_ms + RENEWAL_MS, organization_ids, places: new Map() }
      return true
    })
    if (isLeader === true) {
      const { organization_ids, places } = led
      const has_more = await Promise.all(
        organization_ids.map((organization_id) =>
          attempt(`indexing the activity log of ${organization_id}`, () =>
            digestNext(parts, organization_id, places, stopped),
          ),
        ),
      )
      pause_ms = IDLE_MS + organization_ids.length * IDLE_PER_ORGANIZATION_MS
      if (has_more.includes(true)) pause_ms = 0
      if (nowMs() >= due.floods) {
        due.floods = nowMs() + FLOODS_INTERVAL_MS
        await Promise.all(
          Object.entries(chores(parts, organization_ids)).map(([job, work]) => attempt(job, work)),
        )
      }
      if (nowMs() >= due.budget) {
        due.budget = nowMs() + BUDGET_INTERVAL_MS
        await attempt('trimming the activity log', () =>
          keepWithinBudget(redis, organization_ids, parts.retention, now().getTime(), cursors),
        )
      }
      if (sending === null && nowMs() >= due.notices) {
        due.notices = nowMs() + NOTICE_INTERVAL_MS
        // Not awaited: a slow mail server must not delay indexing.
        const sent = attempt('sending e-mails', () => sendMails(parts, organization_ids))
        sending = sent.finally(() => {
          sending = null
        })
      }
    }
    await parts.logs.grown(mark, pause_ms, RENEWAL_MS, stopped)
    if (pause_ms === 0) await parts.load.quiet()
  }
  await sending
  await lease.release(redis, REDIS_KEYS.activityLeader, parts.name)
}

/** At the same time, so that they ask the store together. */
const chores = (
  { redis, log, now }: ActivityWorkerParts,
  organization_ids: readonly string[],
): Readonly<Record<string, () => Promise<unknown>>> => ({
  'recording counted refusals in the activity log': () => tellFloods(redis, now()),
  'looking at the clock of the store': () => keepSchedules({ redis, log }),
  'resolving alerts': () => resolveAlerts(redis, organization_ids, now()),
})

/** About new alerts, and about requests that wait. That one of both fails does not stop the other. */
async function sendMails(
  parts: ActivityWorkerParts,
  organization_ids: readonly string[],
): Promise<void> {
  const mails = [sendAlertNotices(parts), parts.mailRequests(organization_ids)]
  await Promise.allSettled(mails)
  await Promise.all(mails)
}

/** What a leader knows until it renews its leadership. */
interface Led {
  readonly until_ms: number
  readonly organization_ids: readonly string[]
  readonly places: Map<string, DigestPlace>
}

/** Indexes new entries for a limited time. Returns whether there are more. */
async function digestNext(
  parts: ActivityWorkerParts,
  organization_id: string,
  places: Led['places'],
  stopped: AbortSignal,
): Promise<boolean> {
  const { redis, load, nowMs } = parts
  const end_ms = nowMs() + DIGEST_MS
  let place = places.get(organization_id) ?? (await readDigestPlace(redis, organization_id))
  // Kept only if what follows succeeds.
  places.delete(organization_id)
  for (;;) {
    const digested = await digestLog(parts, organization_id, place)
    if (digested.kind === 'overtaken') return false
    place = { ...place, position: digested.position }
    if (!digested.has_more || stopped.aborted || nowMs() > end_ms) {
      places.set(organization_id, place)
      return digested.has_more
    }
    await load.quiet()
  }
}
