import { type RedisClient, runScript } from './run-script.ts'

/**
 * A lease: one process at a time does a job, until it releases the lease or has not renewed it for a while. Contenders for one key give
 * the same length.
 */
export const lease = {
  /** Takes or renews it. `renewed`: nobody else has held it since this process last asked. */
  hold: async (
    redis: RedisClient,
    key: string,
    name: string,
    ms: number,
  ): Promise<'renewed' | 'taken' | 'not ours'> => {
    const answer = await runScript(redis, 'hold-lease', [key], [name, ms])
    return answer === 2 ? 'renewed' : answer === 1 ? 'taken' : 'not ours'
  },

  /** The next process need not wait. Never rejects: without an answer of the store it expires. */
  release: async (redis: RedisClient, key: string, name: string): Promise<void> => {
    await runScript(redis, 'hold-lease', [key], [name, 0]).catch(() => undefined)
  },
} as const
