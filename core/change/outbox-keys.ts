import { REDIS_KEYS } from '../redis/redis-keys.ts'

/** The keys that core/lua/include/enqueue-event.lua takes, in its order; a script has them side by side in its KEYS. */
export const outboxKeys = (organization_id: string) =>
  [
    REDIS_KEYS.outbox,
    REDIS_KEYS.outboxUsage,
    REDIS_KEYS.webhookSubscriptions(organization_id),
    REDIS_KEYS.rateFloods,
    REDIS_KEYS.rateFlood(''),
  ] as const
