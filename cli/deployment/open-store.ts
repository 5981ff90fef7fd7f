import { connectRedis } from '../../core/redis/connect-redis.ts'
import { connectionProblem, lastError } from '../../core/redis/connection-problem.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { StoreAccess } from '../../core/redis/store-access.ts'
import { refuseOldVersion } from '../../core/store/minimum-version.ts'

const ANSWER_LIMIT_MS = 5_000

/**
 * A connection on which the store has answered; without it, a command would wait for a store that is away, and say nothing.
 * @throws with a sentence for the operator
 */
export async function openStore(store: StoreAccess | string, name: string): Promise<RedisClient> {
  const redis = connectRedis(store, { name, role: 'queue' })
  const problem = await Promise.race([
    redis.ping().then(
      () => null,
      (error: unknown) => connectionProblem(redis, error),
    ),
    noAnswer().then(() => connectionProblem(redis) ?? 'it is slow'),
  ])
  if (problem === null) {
    await refuseOldVersion(redis).catch((old: unknown) => {
      redis.disconnect()
      throw old
    })
    return redis
  }
  const error = lastError(redis)
  redis.disconnect()
  throw new Error(
    `The store cannot be used: ${problem}${error === '' ? '' : ` (${error})`}. Nothing was changed.`,
  )
}

const noAnswer = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ANSWER_LIMIT_MS).unref()
  })
