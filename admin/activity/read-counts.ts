import { chunksOf } from '../../core/system/chunks-of.ts'
import { setImmediate as turn } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { COMBINED_MEMBERS, NO_VALUE } from './activity-tally.ts'
import { DAY_S, MINUTE_S, MINUTES_KEPT_S, QUARTER_S, TWO_HOURS_S } from './count-buckets.ts'
import { WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS } from './activity-filter.ts'
import { type BucketCounts, type Combination, FinishedCounts } from './finished-counts.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'

/** Buckets per round trip; other requests are served between two. */
const BUCKETS_PER_READ = 64
/** `*`: an agent or API beyond the bound of a bucket. */
export const OTHER = '*'

/** Times in s since 1970, multiples of the smallest bucket. */
export interface CountRange {
  readonly from_s: number
  readonly to_s: number
  /** Lengths of the buckets that may be read, the longest first. */
  readonly buckets_s: readonly number[]
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
  // If all was removed, the log is whole from its next entry on.
  const [oldest] = (valueOf('first-entry') ?? [valueOf('last-generated-id')]) as readonly [string]
  // An entry is filed up to this long before or after it was written.
  const after_ms = Math.max(WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS)
  return Math.ceil((msOfPlace(oldest) + after_ms) / 1000)
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
    buckets_s: [TWO_HOURS_S, QUARTER_S, MINUTE_S].filter(
      (own_s) => own_s >= bucket_s && step % own_s === 0,
    ),
    step_s: step,
  }
}

type Bucket = readonly [length_s: number, start_s: number]

/** The fewest buckets that make up a range. */
function bucketsOf({ from_s, to_s, buckets_s }: CountRange): readonly Bucket[] {
  const buckets: Bucket[] = []
  for (let at_s = from_s; at_s < to_s; ) {
    const fits = (own_s: number): boolean => at_s % own_s === 0 && at_s + own_s <= to_s
    const length_s = buckets_s.find(fits) ?? buckets_s.at(-1) ?? MINUTE_S
    buckets.push([length_s, at_s])
    at_s += length_s
  }
  return buckets
}

/** `calls`: those that the entries stand for; more than `entries` where refusals were only counted. */
export type TakeCount = (
  start_s: number,
  combination: Combination,
  entries: number,
  calls: number,
) => void

/** Reads the counts of a range, and hands each to `take`. */
export async function readCounts(
  redis: RedisClient,
  organization_id: string,
  range: CountRange,
  take: TakeCount,
): Promise<void> {
  const finished = FinishedCounts.of(redis)
  const names = new Map<number, ReadonlyMap<string, Combination>>()
  const key = (bucket: string): string => REDIS_KEYS.activityCounts(organization_id, bucket)
  const keyOf = ([length_s, start_s]: Bucket): string => key(`${length_s}:${start_s}`)
  const namesAt = async (start_s: number): Promise<ReadonlyMap<string, Combination>> => {
    const day = Math.floor(start_s / DAY_S)
    const known = names.get(day) ?? readNames(await redis.hgetall(key(`names:${day}`)), finished)
    names.set(day, known)
    return known
  }
  const until_s = await finished.until(organization_id)
  const buckets = bucketsOf(range)
  for (const some of chunksOf(buckets, BUCKETS_PER_READ)) {
    const all = await Promise.all(
      some.map(async (bucket) => {
        const known = finished.get(keyOf(bucket))
        // As a list; an object would have to be made for each bucket.
        return known ?? ((await redis.call('HGETALL', keyOf(bucket))) as readonly string[])
      }),
    )
    for (const [i, bucket] of some.entries()) {
      const found = all[i] ?? []
      const [length_s, start_s] = bucket
      const counts = 'numbers' in found ? found : readBucket(found, await namesAt(start_s))
      if (counts !== found && start_s + length_s <= until_s) finished.keep(keyOf(bucket), counts)
      const { combinations, numbers } = counts
      for (let n = 0; n < combinations.length; n++)
        take(start_s, combinations[n] as Combination, numbers[2 * n] ?? 0, numbers[2 * n + 1] ?? 0)
    }
    await turn()
  }
}

function readBucket(
  fields: readonly string[],
  names: ReadonlyMap<string, Combination>,
): BucketCounts {
  const combinations: Combination[] = []
  const numbers = new Uint32Array(fields.length)
  for (let field = 0; field + 1 < fields.length; field += 2) {
    const number = fields[field] ?? ''
    const calls = Number(fields[field + 1])
    // `<number>+` counts calls that no entry of their own reports.
    const isFurther = number.endsWith('+')
    const combination = names.get(isFurther ? number.slice(0, -1) : number)
    if (combination === undefined) continue
    numbers[2 * combinations.length] = isFurther ? 0 : calls
    numbers[2 * combinations.length + 1] = calls
    combinations.push(combination)
  }
  return { combinations, numbers }
}

const readNames = (
  stored: Readonly<Record<string, string>>,
  finished: FinishedCounts,
): ReadonlyMap<string, Combination> =>
  new Map(
    Object.entries(stored).map(([name, number]) => [number, finished.combination(name, readName)]),
  )

function readName(name: string): Combination {
  const values = name.split(' ')
  const members = COMBINED_MEMBERS.map((member, at) => {
    const value = values[at] ?? NO_VALUE
    return [member, value === NO_VALUE ? null : value]
  })
  const combination = Object.fromEntries(members) as Combination
  // Left out where the decision implies it (admin/activity/activity-tally.ts).
  const isImplied = values.length < COMBINED_MEMBERS.length && combination.decision !== null
  return isImplied ? { ...combination, via: 'base_url' } : combination
}
