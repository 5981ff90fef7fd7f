import type { Change } from '../../core/change/commit.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'

/** One stored record that holds encrypted values. */
export interface SealedRecord {
  readonly organization_id: string
  readonly id: string
  /** Its encrypted values. */
  readonly sealed: readonly string[]
  /** Whether it also holds a secret as an older version stored it, unencrypted. */
  readonly has_clear: boolean
  /**
   * The change that encrypts all of them with the primary key, and that is refused if the record is no longer what was
   * read; null if one of them does not open.
   */
  readonly reseal: (ring: KeyRing) => Change | null
}

/** Where the values of one kind are stored. */
export interface SealedStore {
  /** What people call one, and several. */
  readonly names: readonly [one: string, several: string]
  /** They expire within minutes, and losing one does little harm: a start does not search for them. */
  readonly is_short_lived: boolean
  /** All records, a page at a time. */
  readonly records: (redis: RedisClient) => AsyncIterable<SealedRecord>
}
