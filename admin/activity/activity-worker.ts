import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { sendAlertNotices } from '../alerts/send-alert-notices.ts'
import type { Mailer } from '../email/mailer.ts'
import type { AdminMetrics } from '../metrics/admin-metrics.ts'
import { DIGEST_BATCH, digestLog, readPosition } from './digest-log.ts'
import { keepWithinBudget, type Retention } from './log-budget.ts'

/** One process digests; when it ends without a word, another takes over after this time. */
const LEADERSHIP_MS = 5_000
const IDLE_MS = 100
/** An idle round asks the store once for each organization. */
const IDLE_PER_ORGANIZATION_MS = 1
const NOTICE_INTERVAL_MS = 2_000
const BUDGET_INTERVAL_MS = 30_000

export interface ActivityWorkerParts {
  readonly redis: RedisClient
  readonly name: string
  readonly mailer: Mailer | null
  readonly retention: Retention
  readonly metrics: AdminMetrics
  readonly log: Logger
  readonly nowMs: () => number
  readonly now: () => Date
}

/**
 * What one admin process at a time does with the logs: indexes, alerts and their e-mails, retention. Leadership saves
 * work and is no lock: each step is safe when two do it at once. Answers the function that stops it.
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
  const due = { notices: 0, budget: 0 }
  let isWell = true
  while (!stopped.aborted) {
    let pause_ms = IDLE_MS
    try {
      if (await leads(parts)) {
        const organization_ids = await redis.hkeys(REDIS_KEYS.organizations)
        const more = await digestAll(parts, organization_ids)
        pause_ms = more ? 0 : IDLE_MS + organization_ids.length * IDLE_PER_ORGANIZATION_MS
        if (nowMs() >= due.budget) {
          due.budget = nowMs() + BUDGET_INTERVAL_MS
          await keepWithinBudget(redis, organization_ids, parts.retention, now().getTime())
        }
        if (nowMs() >= due.notices) {
          due.notices = nowMs() + NOTICE_INTERVAL_MS
          await sendAlertNotices(parts)
        }
      } else pause_ms = LEADERSHIP_MS / 5
      isWell = true
    } catch (error) {
      if (isWell && !stopped.aborted)
        log.warn({ err: error }, 'the activity log cannot be digested at the moment')
      isWell = false
      pause_ms = LEADERSHIP_MS / 5
    }
    await wait(pause_ms, undefined, { signal: stopped }).catch(() => undefined)
  }
  // The next one need not wait for the end of our time.
  if ((await redis.get(REDIS_KEYS.activityLeader).catch(() => null)) === parts.name)
    await redis.del(REDIS_KEYS.activityLeader).catch(() => undefined)
}

async function leads({ redis, name }: ActivityWorkerParts): Promise<boolean> {
  const key = REDIS_KEYS.activityLeader
  if ((await redis.set(key, name, 'PX', LEADERSHIP_MS, 'NX')) === 'OK') return true
  if ((await redis.get(key)) !== name) return false
  await redis.pexpire(key, LEADERSHIP_MS)
  return true
}

/** Answers whether some log may have more already. */
async function digestAll(
  { redis, metrics }: ActivityWorkerParts,
  organization_ids: readonly string[],
): Promise<boolean> {
  const counts = await Promise.all(
    organization_ids.map(async (organization_id) => {
      const digested = await digestLog(
        redis,
        organization_id,
        await readPosition(redis, organization_id),
        metrics,
      )
      return digested.kind === 'digested' ? digested.count : 0
    }),
  )
  return counts.some((count) => count === DIGEST_BATCH)
}
