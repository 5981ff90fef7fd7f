import { repeatWork } from '../system/repeat-work.ts'
import { connectionProblem, lastError } from './connection-problem.ts'
import type { RedisClient } from './run-script.ts'

/** An outage that lasts this long is reported. A reconnection is shorter. */
const FIRST_NOTICE_MS = 1_000
const NOTICE_INTERVAL_MS = 10_000
const CHECK_INTERVAL_MS = 1_000

interface Log {
  warn(data: object, message: string): void
  info(data: object, message: string): void
}

/**
 * Reports an unavailable store within two seconds, and then regularly, with its cause. Returns the function that stops it.
 * @param check what is wrong, null if nothing
 */
export function announceOutages(
  redis: RedisClient,
  log: Log,
  check: () => string | null | Promise<string | null> = () => connectionProblem(redis),
): () => void {
  const began_ms = performance.now()
  /** When the outage began; null while there is none. */
  let since_ms: number | null = began_ms
  let announced_ms: number | null = null
  let announced = ''
  const report = (problem: string | null): void => {
    const now_ms = performance.now()
    if (problem === null) {
      if (announced_ms !== null) log.info({}, 'the store is available again')
      since_ms = announced_ms = null
      announced = ''
      return
    }
    since_ms ??= now_ms
    if (now_ms - since_ms < FIRST_NOTICE_MS) return
    const isDue = announced_ms === null || now_ms - announced_ms >= NOTICE_INTERVAL_MS
    if (!isDue && problem === announced) return
    announced_ms = now_ms
    announced = problem
    const error = lastError(redis)
    log.warn(error === '' ? {} : { error }, `the store is unavailable: ${problem}`)
  }
  return repeatWork(
    CHECK_INTERVAL_MS,
    async () => report(await check()),
    () => undefined,
  )
}
