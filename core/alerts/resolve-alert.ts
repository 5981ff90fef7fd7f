import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'

/**
 * Closes the open alert about a condition that is over, if there is one. Levels that are measured again and again, such as free
 * memory, call it whenever they are calm.
 * @throws if the store does not respond
 */
export async function resolveAlert(
  redis: RedisClient,
  organization_id: string,
  about: string,
  { resolution, at }: { readonly resolution: string; readonly at: Date },
): Promise<void> {
  const open = REDIS_KEYS.alertsOpen(organization_id)
  const alert_id = await redis.hget(open, about)
  if (alert_id === null) return
  const keys = [REDIS_KEYS.alert(organization_id, alert_id), open] as const
  await runScript(redis, 'resolve-alert', keys, [at.toISOString(), resolution, ''])
}
