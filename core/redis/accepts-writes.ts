import { isDiskFull } from './is-disk-full.ts'
import { REDIS_KEYS } from './redis-keys.ts'
import type { RedisClient } from './run-script.ts'

/** Tries a write that changes nothing. `unknown` when the store does not respond, or refuses for another reason. */
export const acceptsWrites = (redis: RedisClient): Promise<'yes' | 'disk_full' | 'unknown'> =>
  redis.setrange(REDIS_KEYS.installation, 0, '').then(
    () => 'yes' as const,
    (error: unknown) => (isDiskFull(error) ? 'disk_full' : 'unknown'),
  )
