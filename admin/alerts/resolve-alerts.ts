import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { readAlerts, type StoredAlert } from './alert-view.ts'
import { ALERTS_OF_STATE, stateOf } from './state-of.ts'

/** A finding or an anomaly that has not been repeated for so long is no longer something to act on. */
const QUIET_DAYS = 7
const QUIET_MS = QUIET_DAYS * 24 * 3_600_000

/**
 * Closes open alerts whose condition is over: the webhook delivers again, the agent was reactivated, logs or traces are exported
 * again, unlisted hosts are refused again, the finding was not repeated for a week. Alerts about lost data stay open until an operator acknowledges them.
 * @throws when the store does not respond; the next call tries again
 */
export async function resolveAlerts(
  redis: RedisClient,
  organization_ids: readonly string[],
  now: Date,
): Promise<void> {
  for (const organization_id of organization_ids) {
    const open = REDIS_KEYS.alertsOpen(organization_id)
    const alerts = await readAlerts(redis, organization_id, await redis.hvals(open))
    for (const alert of alerts) {
      const resolution = alert && (await resolutionOf(redis, organization_id, alert, now))
      if (alert === null || resolution === null) continue
      const keys = [REDIS_KEYS.alert(organization_id, alert['alert_id'] ?? ''), open] as const
      const args = [now.toISOString(), resolution, alert['count'] ?? '']
      await runScript(redis, 'resolve-alert', keys, args)
    }
  }
}

/** Why the condition is over; null while it is not, or where only an operator can tell. */
async function resolutionOf(
  redis: RedisClient,
  organization_id: string,
  { kind, last, last_at }: StoredAlert,
  now: Date,
): Promise<string | null> {
  const ofState = ALERTS_OF_STATE.find((one) => one === kind)
  if (ofState !== undefined)
    return await stateOf(redis, organization_id, ofState, last ?? '{}', now)
  const isFinding = kind === 'injection' || kind === 'anomaly'
  const isQuiet = now.getTime() - Date.parse(last_at ?? '') > QUIET_MS
  return isFinding && isQuiet ? `It was not repeated for ${QUIET_DAYS} days.` : null
}
