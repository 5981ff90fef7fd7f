import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'

/** Minutes that are read for one page. */
const MINUTES_PER_PAGE = 1_500
export const COUNTS_MAX_AGE_MINUTES = 30 * 24 * 60

/** Refusals of one minute that were counted instead of recorded one by one. */
export interface RefusalCount {
  readonly minute: string
  /** Null if the agent is unknown. */
  readonly agent_id: string | null
  readonly reason: string
  readonly count: number
}

/** From `newest` down to `oldest`, both minutes since 1970; `next` is the minute to go on with. */
export async function readRefusalCounts(
  redis: RedisClient,
  /** Null for calls of an unknown organization. */
  organization_id: string | null,
  { newest, oldest }: { readonly newest: number; readonly oldest: number },
): Promise<{ readonly data: readonly RefusalCount[]; readonly next: number | null }> {
  const last = Math.max(oldest, newest - MINUTES_PER_PAGE + 1)
  const minutes = Array.from({ length: Math.max(0, newest - last + 1) }, (_, i) => newest - i)
  const hashes = await Promise.all(
    minutes.map((minute) =>
      redis.hgetall(
        organization_id === null
          ? REDIS_KEYS.unknownCalls(minute)
          : REDIS_KEYS.refusalCounts(organization_id, minute),
      ),
    ),
  )
  const data = hashes.flatMap((counts, i) => {
    const minute = new Date((minutes[i] ?? 0) * 60_000).toISOString()
    return Object.entries(counts).map(([name, count]): RefusalCount => {
      const [agent, reason] = organization_id === null ? ['-', name] : name.split(' ')
      return {
        minute,
        agent_id: agent === '-' || agent === undefined ? null : agent,
        reason: reason ?? '',
        count: Number(count),
      }
    })
  })
  return { data, next: last > oldest ? last - 1 : null }
}
