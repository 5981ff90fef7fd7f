import type { RedisClient } from '../../core/redis/run-script.ts'

/** One process at a time does a job: the one whose name the key holds, until it releases the key or has not renewed it for a while. */
export const leadership = {
  /** Takes or renews it. Returns whether this process has it. */
  take: async (redis: RedisClient, key: string, name: string, ms: number): Promise<boolean> => {
    if ((await redis.set(key, name, 'PX', ms, 'NX')) === 'OK') return true
    if ((await redis.get(key)) !== name) return false
    await redis.pexpire(key, ms)
    return true
  },

  /** The next process need not wait. Never rejects: without an answer of the store it expires. */
  release: async (redis: RedisClient, key: string, name: string): Promise<void> => {
    if ((await redis.get(key).catch(() => null)) === name)
      await redis.del(key).catch(() => undefined)
  },
} as const
