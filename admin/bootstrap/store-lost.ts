import { gapSentence, readGap } from '../../core/restore/restore-gap.ts'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** While an alert about this is open, the deployment is not ready. */
const ABOUT = 'store'

/** Raises the critical alert that the store has lost what it had. */
export const raiseStoreLost = (
  redis: RedisClient,
  organization_id: string,
  title: string,
  occurrence: Readonly<Record<string, unknown>>,
): Promise<string> =>
  raiseAlert(
    redis,
    organization_id,
    { about: ABOUT, kind: 'store_lost', severity: 'critical', title, occurrence },
    new Date(),
  )

/** What is wrong, until an operator acknowledges it; null when all is well. */
export async function storeProblem(
  redis: RedisClient,
  organization_id: string,
): Promise<string | null> {
  const gap = await readGap(redis)
  if (gap !== null) return gapSentence(gap.known_until)
  const alert_id = await redis.hget(REDIS_KEYS.alertsOpen(organization_id), ABOUT)
  if (alert_id === null) return null
  return `the store has lost data; see the critical alert ${alert_id}, and acknowledge it when everything is restored`
}
