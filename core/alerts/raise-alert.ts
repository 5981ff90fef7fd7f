import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import type { AlertCause } from './alert.ts'
import { alertKeys } from './alert-keys.ts'
import { writeAlert } from './write-alert.ts'

/**
 * Raises an alert of an organization, or counts one more in the open alert about the same thing. Alerts that follow from
 * activity entries (findings, anomalies, automatic kills) are raised by admin from the log and need no call.
 * @returns the id of the alert
 * @throws if the store does not respond
 */
export async function raiseAlert(
  redis: RedisClient,
  organization_id: string,
  cause: AlertCause,
  at: Date,
): Promise<string> {
  const keys = [REDIS_KEYS.activityDigest(organization_id), ...alertKeys(organization_id)] as const
  const alert = JSON.stringify(writeAlert(cause, at))
  return String(await runScript(redis, 'raise-alert', keys, [organization_id, alert]))
}
