import type { RedisClient } from '../../core/redis/run-script.ts'

const READY_LIMIT_MS = 15_000

/** The launcher starts the store at the same time, so the first connections may be refused. */
export async function storeIsReady(redis: RedisClient): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the store at REDIS_URL did not respond within ${READY_LIMIT_MS} ms`)),
      READY_LIMIT_MS,
    )
    redis.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
