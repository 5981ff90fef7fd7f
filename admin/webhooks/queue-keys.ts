import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'

/** The keys of all scripts of the queue, in the order of core/lua/include/webhook-queue.lua. */
export const QUEUE_KEYS = [
  REDIS_KEYS.outbox,
  REDIS_KEYS.outboxUsage,
  REDIS_KEYS.webhooksDue,
  REDIS_KEYS.webhookNotices,
  REDIS_KEYS.webhooks(''),
  REDIS_KEYS.webhookQueue(''),
  REDIS_KEYS.webhookInFlight(''),
  REDIS_KEYS.webhookDeliveries(''),
  REDIS_KEYS.webhookDelivery(''),
  REDIS_KEYS.webhookState(''),
  REDIS_KEYS.webhookSettled(''),
  REDIS_KEYS.webhookEvent(''),
  REDIS_KEYS.webhookEventTimes(''),
  REDIS_KEYS.webhookIdleEvents(''),
  REDIS_KEYS.webhookUsage(''),
] as const
