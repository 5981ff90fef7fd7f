import { chunksOf } from '../../core/system/chunks-of.ts'
import { lineOfEntry } from '../../core/change/record-entries.ts'
import { ACTIVITY_MAX_ENTRIES, type ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { ScopeKey } from '../../core/anomaly/anomaly-model.ts'
import { outboxKeys } from '../../core/change/outbox-keys.ts'
import { lease } from '../../core/redis/lease.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import {
  POSITION_FIELD,
  readStored,
  type StoredPosition,
  type StoredScope,
} from './stored-scope.ts'

/** Scopes per script or read. Each has about 8 kB, so the store is not blocked for long. */
export const SCOPES_AT_ONCE = 50
/** Without renewal the lease expires after this time, and another process continues from the stored state. */
export const ANALYSER_LEASE_MS = 10_000

export interface Saving {
  readonly fields: readonly (readonly [field: ScopeKey | typeof POSITION_FIELD, value: object])[]
  readonly removed?: readonly ScopeKey[]
  readonly entries?: readonly ActivityEntry[]
}

export type Saved = 'saved' | 'lease_lost' | 'organization_gone'

/** The analyser's state in Redis, and its lease. */
export class AnomalyStore {
  readonly #redis: RedisClient
  readonly #holder: string

  constructor(redis: RedisClient, holder: string) {
    this.#redis = redis
    this.#holder = holder
  }

  /** Takes or renews the lease for LEASE_MS. True if this process held it without interruption. */
  async hold(): Promise<'renewed' | 'taken' | 'not ours'> {
    return await lease.hold(this.#redis, REDIS_KEYS.anomalyLeader, this.#holder, ANALYSER_LEASE_MS)
  }

  async giveBack(): Promise<void> {
    await lease.release(this.#redis, REDIS_KEYS.anomalyLeader, this.#holder)
  }

  async readPosition(organization_id: string): Promise<StoredPosition | null> {
    const key = REDIS_KEYS.anomalyState(organization_id)
    return readStored<StoredPosition>(await this.#redis.hget(key, POSITION_FIELD))
  }

  /** All stored scopes, in batches. */
  async *readScopes(organization_id: string): AsyncGenerator<readonly [ScopeKey, StoredScope]> {
    const key = REDIS_KEYS.anomalyState(organization_id)
    const fields = (await this.#redis.hkeys(key)).filter((field) => field !== POSITION_FIELD)
    for (const names of chunksOf(fields, SCOPES_AT_ONCE)) {
      const texts = await this.#redis.hmget(key, ...names)
      for (const [n, name] of names.entries()) {
        const stored = readStored<StoredScope>(texts[n] ?? null)
        if (stored !== null) yield [name as ScopeKey, stored]
      }
    }
  }

  async save(
    organization_id: string,
    { fields, removed = [], entries = [] }: Saving,
  ): Promise<Saved> {
    const keys = [
      REDIS_KEYS.anomalyLeader,
      REDIS_KEYS.organizations,
      REDIS_KEYS.anomalyState(organization_id),
      REDIS_KEYS.activity(organization_id),
      ...outboxKeys(organization_id),
    ] as const
    const args = [
      this.#holder,
      organization_id,
      ACTIVITY_MAX_ENTRIES,
      entries.map(lineOfEntry).join(''),
      removed.length,
      ...removed,
      ...fields.flatMap(([field, value]) => [field, JSON.stringify(value)]),
    ]
    const answer = await runScript(this.#redis, 'save-anomalies', keys, args)
    if (answer === 1) return 'saved'
    return answer === 0 ? 'lease_lost' : 'organization_gone'
  }
}
