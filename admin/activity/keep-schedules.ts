import type { Logger } from 'pino'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'

/** Looks whether the clock of the store has stepped back, and moves what is scheduled by it. */
export async function keepSchedules({
  redis,
  log,
}: {
  readonly redis: RedisClient
  readonly log: Pick<Logger, 'warn'>
}): Promise<void> {
  const keys = [
    REDIS_KEYS.storeClock,
    REDIS_KEYS.webhooksDue,
    REDIS_KEYS.webhookNotices,
    REDIS_KEYS.killMails,
    REDIS_KEYS.rateFloods,
    REDIS_KEYS.revocationsDue,
    REDIS_KEYS.webhookQueue(''),
    REDIS_KEYS.webhookInFlight(''),
  ] as const
  const step_ms = await runScript(redis, 'keep-schedules', keys, [])
  if (step_ms !== 0) log.warn({ step_ms }, 'the clock of the store stepped back')
}
