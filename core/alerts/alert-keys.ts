import { REDIS_KEYS } from '../redis/redis-keys.ts'

/** The keys that core/lua/include/raise-alert.lua takes, in its order. */
export const alertKeys = (organization_id: string) =>
  [
    REDIS_KEYS.alert(organization_id, ''),
    REDIS_KEYS.alertIndex(organization_id),
    REDIS_KEYS.alertsOpen(organization_id),
    REDIS_KEYS.alertNotices,
  ] as const
