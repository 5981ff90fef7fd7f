import { comparePlaces, msOfPlace } from '../../core/activity/log-place.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { WRITTEN_AFTER_MAX_MS } from './activity-filter.ts'
import type { COMBINED_MEMBERS } from './activity-tally.ts'
import { MINUTE_S } from './count-buckets.ts'

/** 16 bytes each: a week by the hour, of agents and APIs up to the bound of a bucket, is half of it. */
const COUNTS_MAX = 500_000
/** What a bucket takes without its counts, in counts. */
const EMPTY_BUCKET = 20
/** Some 200 bytes each. */
const COMBINATIONS_MAX = 20_000

export type CombinedMember = (typeof COMBINED_MEMBERS)[number]
export type Combination = Readonly<Record<CombinedMember, string | null>>

export interface BucketCounts {
  readonly combinations: readonly Combination[]
  /** For each combination its entries and the calls that they stand for. */
  readonly numbers: Uint32Array
}

/**
 * The counts of times that are over, so that a chart does not read hundreds of buckets from the store each time. The log is
 * counted in its order, and an entry is filed at most WRITTEN_AFTER_MAX_MS before it is written: once the position of the digest is
 * that far behind the end of a bucket, the bucket does not change any more.
 */
export class FinishedCounts {
  readonly #redis: RedisClient
  readonly #buckets = new Map<string, BucketCounts>()
  #counts = 0
  readonly #positions = new Map<string, string>()
  readonly #combinations = new Map<string, Combination>()

  private constructor(redis: RedisClient) {
    this.#redis = redis
  }

  /** Those of a store. */
  static of(redis: RedisClient): FinishedCounts {
    const known = OF_STORES.get(redis) ?? new FinishedCounts(redis)
    OF_STORES.set(redis, known)
    return known
  }

  /** Until when the buckets of an organization are finished, in s. To be asked before they are read. */
  async until(organization_id: string): Promise<number> {
    const key = REDIS_KEYS.activityDigest(organization_id)
    const position = (await this.#redis.hget(key, 'position')) ?? '0-0'
    const last = this.#positions.get(organization_id)
    this.#positions.set(organization_id, position)
    // The log is being counted again, or the store is one of an earlier time.
    if (last !== undefined && comparePlaces(position, last) < 0) this.#clear()
    return (msOfPlace(position) - WRITTEN_AFTER_MAX_MS) / 1000 - MINUTE_S
  }

  get(bucket: string): BucketCounts | undefined {
    const found = this.#buckets.get(bucket)
    if (found === undefined) return undefined
    // The first one is always that which was not used for longest.
    this.#buckets.delete(bucket)
    this.#buckets.set(bucket, found)
    return found
  }

  keep(bucket: string, counts: BucketCounts): void {
    this.#counts += sizeOf(counts) - sizeOf(this.#buckets.get(bucket))
    this.#buckets.set(bucket, counts)
    for (const [oldest, its] of this.#buckets) {
      if (this.#counts <= COUNTS_MAX) break
      this.#buckets.delete(oldest)
      this.#counts -= sizeOf(its)
    }
  }

  /** One object for each combination, so that what is known of it need not be found out for each bucket. */
  combination(name: string, make: (name: string) => Combination): Combination {
    const known = this.#combinations.get(name)
    if (known !== undefined) return known
    if (this.#combinations.size >= COMBINATIONS_MAX) this.#combinations.clear()
    const made = make(name)
    this.#combinations.set(name, made)
    return made
  }

  #clear(): void {
    this.#buckets.clear()
    this.#counts = 0
  }
}

const sizeOf = (counts: BucketCounts | undefined): number =>
  counts === undefined ? 0 : EMPTY_BUCKET + counts.combinations.length

const OF_STORES = new WeakMap<RedisClient, FinishedCounts>()
