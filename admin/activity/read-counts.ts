import { setImmediate as turn } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { COMBINED_MEMBERS } from './activity-tally.ts'
import { DAY_S, MINUTES_KEPT_S, MINUTE_S, QUARTER_S } from './count-buckets.ts'
import { WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS } from './activity-filter.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'

/** Buckets per round trip; other requests are served between two. */
const BUCKETS_PER_READ = 64
/** `*`: an agent or API beyond the bound of a bucket. */
export const OTHER = '*'
const NONE = '-'

export type CombinedMember = (typeof COMBINED_MEMBERS)[number]
export type Combination = Readonly<Record<CombinedMember, string | null>>

export interface CountedPart {
  readonly start_s: number
  readonly combination: Combination
  readonly entries: number
  /** Calls that the entries stand for; more than `entries` where refusals were only counted. */
  readonly calls: number
}

/** Times in s since 1970, multiples of `bucket_s`. */
export interface CountRange {
  readonly from_s: number
  readonly to_s: number
  readonly bucket_s: number
}

/**
 * The first time from which the log is whole, in s; what is older was removed from the log, in whole or in part, and is not
 * counted. 0 if nothing was removed so far.
 */
export async function wholeSince(redis: RedisClient, organization_id: string): Promise<number> {
  const key = REDIS_KEYS.activity(organization_id)
  if ((await redis.exists(key)) === 0) return 0
  const info = (await redis.xinfo('STREAM', key)) as unknown[]
  const valueOf = (name: string): unknown => info[info.indexOf(name) + 1]
  if (valueOf('entries-added') === valueOf('length')) return 0
  const [oldest] = await redis.xrange(key, '-', '+', 'COUNT', 1)
  // An entry is filed up to this long before or after it was written.
  const after_ms = Math.max(WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS)
  return oldest === undefined ? 0 : Math.ceil((msOfPlace(oldest[0]) + after_ms) / 1000)
}

/** The buckets that a range is read in: minutes where they are kept and the range is short or asks for them. */
export function countRange(
  { from_ms, to_ms }: { readonly from_ms: number; readonly to_ms: number },
  {
    step_s,
    since_s,
    now_ms,
  }: { readonly step_s: number; readonly since_s: number; readonly now_ms: number },
): CountRange & { readonly step_s: number } {
  const hasMinutes = from_ms / 1000 >= now_ms / 1000 - MINUTES_KEPT_S
  const bucket_s = step_s % QUARTER_S === 0 || !hasMinutes ? QUARTER_S : MINUTE_S
  const step = Math.ceil(step_s / bucket_s) * bucket_s
  const whole_s = Math.ceil(since_s / step) * step
  return {
    from_s: Math.max(Math.floor(from_ms / 1000 / step) * step, whole_s),
    to_s: Math.ceil(to_ms / 1000 / step) * step,
    bucket_s,
    step_s: step,
  }
}

/** Reads the counts of a range, and hands each to `take`. */
export async function readCounts(
  redis: RedisClient,
  organization_id: string,
  { from_s, to_s, bucket_s }: CountRange,
  take: (part: CountedPart) => void,
): Promise<void> {
  const names = new Map<number, ReadonlyMap<string, Combination>>()
  const key = (bucket: string): string => REDIS_KEYS.activityCounts(organization_id, bucket)
  for (let at_s = from_s; at_s < to_s; at_s += BUCKETS_PER_READ * bucket_s) {
    const starts: number[] = []
    for (let i = 0; i < BUCKETS_PER_READ && at_s + i * bucket_s < to_s; i++)
      starts.push(at_s + i * bucket_s)
    const buckets = await Promise.all(
      starts.map((start_s) => redis.hgetall(key(`${bucket_s}:${start_s}`))),
    )
    for (const [i, start_s] of starts.entries()) {
      const counts = buckets[i] ?? {}
      const day = Math.floor(start_s / DAY_S)
      const known = names.get(day) ?? readNames(await redis.hgetall(key(`names:${day}`)))
      names.set(day, known)
      for (const [number, count] of Object.entries(counts)) {
        const combination = known.get(number)
        if (combination === undefined) continue
        const entries = Number(count)
        const calls = entries + Number(counts[`${number}+`] ?? 0)
        take({ start_s, combination, entries, calls })
      }
    }
    await turn()
  }
}

function readNames(stored: Readonly<Record<string, string>>): ReadonlyMap<string, Combination> {
  return new Map(
    Object.entries(stored).map(([name, number]) => {
      const values = name.split(' ')
      const members = COMBINED_MEMBERS.map((member, at) => [
        member,
        values[at] === NONE ? null : (values[at] ?? null),
      ])
      return [number, Object.fromEntries(members) as Combination]
    }),
  )
}
