import { setImmediate as turn } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { COMBINED_MEMBERS, NO_VALUE } from './activity-tally.ts'
import { DAY_S, MINUTE_S, MINUTES_KEPT_S, QUARTER_S, TWO_HOURS_S } from './count-buckets.ts'
import { WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS } from './activity-filter.ts'
import { msOfPlace } from '../../core/activity/log-place.ts'

/** Buckets per round trip; other requests are served between two. */
const BUCKETS_PER_READ = 64
/** `*`: an agent or API beyond the bound of a bucket. */
export const OTHER = '*'

export type CombinedMember = (typeof COMBINED_MEMBERS)[number]
export type Combination = Readonly<Record<CombinedMember, string | null>>

export interface CountedPart {
  readonly start_s: number
  readonly combination: Combination
  readonly entries: number
  /** Calls that the entries stand for; more than `entries` where refusals were only counted. */
  readonly calls: number
}

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
  const [oldest] = (valueOf('first-entry') ?? []) as readonly [string?]
  // An entry is filed up to this long before or after it was written.
  const after_ms = Math.max(WRITTEN_AFTER_MAX_MS, WRITTEN_BEFORE_MAX_MS)
  return oldest === undefined ? 0 : Math.ceil((msOfPlace(oldest) + after_ms) / 1000)
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

/** The fewest buckets that make up a range. */
function bucketsOf({
  from_s,
  to_s,
  buckets_s,
}: CountRange): readonly (readonly [number, number])[] {
  const buckets: (readonly [length_s: number, start_s: number])[] = []
  for (let at_s = from_s; at_s < to_s; ) {
    const fits = (own_s: number): boolean => at_s % own_s === 0 && at_s + own_s <= to_s
    const length_s = buckets_s.find(fits) ?? buckets_s.at(-1) ?? MINUTE_S
    buckets.push([length_s, at_s])
    at_s += length_s
  }
  return buckets
}

/** Reads the counts of a range, and hands each to `take`. */
export async function readCounts(
  redis: RedisClient,
  organization_id: string,
  range: CountRange,
  take: (part: CountedPart) => void,
): Promise<void> {
  const names = new Map<number, ReadonlyMap<string, Combination>>()
  const key = (bucket: string): string => REDIS_KEYS.activityCounts(organization_id, bucket)
  const buckets = bucketsOf(range)
  for (let at = 0; at < buckets.length; at += BUCKETS_PER_READ) {
    const some = buckets.slice(at, at + BUCKETS_PER_READ)
    // As a list; an object would have to be made for each bucket.
    const answers = await Promise.all(
      some.map(([length_s, start_s]) => redis.call('HGETALL', key(`${length_s}:${start_s}`))),
    )
    for (const [i, [, start_s]] of some.entries()) {
      const counts = answers[i] as readonly string[]
      const day = Math.floor(start_s / DAY_S)
      const known = names.get(day) ?? readNames(await redis.hgetall(key(`names:${day}`)))
      names.set(day, known)
      for (let field = 0; field + 1 < counts.length; field += 2) {
        const number = counts[field] ?? ''
        const calls = Number(counts[field + 1])
        // `<number>+` counts calls that no entry of their own reports.
        const isFurther = number.endsWith('+')
        const combination = known.get(isFurther ? number.slice(0, -1) : number)
        if (combination === undefined) continue
        take({ start_s, combination, entries: isFurther ? 0 : calls, calls })
      }
    }
    await turn()
  }
}

function readNames(stored: Readonly<Record<string, string>>): ReadonlyMap<string, Combination> {
  return new Map(
    Object.entries(stored).map(([name, number]) => {
      const values = name.split(' ')
      const members = COMBINED_MEMBERS.map((member, at) => {
        const value = values[at] ?? NO_VALUE
        return [member, value === NO_VALUE ? null : value]
      })
      const combination = Object.fromEntries(members) as Combination
      // Left out where the decision implies it (admin/activity/activity-tally.ts).
      const isImplied = values.length < COMBINED_MEMBERS.length && combination.decision !== null
      return [number, isImplied ? { ...combination, via: 'base_url' } : combination]
    }),
  )
}
