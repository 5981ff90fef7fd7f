import { connectionProblem } from '../../core/redis/connection-problem.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

const READY_LIMIT_MS = 15_000

/** The launcher starts the store at the same time, so the first connections may be refused. */
export async function storeIsReady(redis: RedisClient): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      const problem = connectionProblem(redis) ?? 'the store does not respond'
      reject(new Error(`${problem} (waited ${READY_LIMIT_MS / 1000} s)`))
    }, READY_LIMIT_MS)
    redis.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
