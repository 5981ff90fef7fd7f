import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { checkAtStart, refuseOldVersion } from '../../core/store/minimum-version.ts'
import { keyMismatch, readStoredKeys } from '../../core/store/stored-keys.ts'

/**
 * Whether the store is the one of this edge: of a version that it reads, encrypted with a key that it has, and of the same deployment
 * as before.
 */
export class StoreCheck {
  readonly #redis: RedisClient
  readonly #ring: KeyRing
  #deployment_id: string | null = null

  constructor(redis: RedisClient, ring: KeyRing) {
    this.#redis = redis
    this.#ring = ring
  }

  /** @throws (rejects) a sentence for the operator when this edge must not start */
  async atStart(): Promise<void> {
    await checkAtStart(this.#redis, () => this.#refuseUnreadable())
  }

  /**
   * An emptied or different store does not know the kills that this edge knows; calls are refused until it is right.
   * @throws (rejects) while it is not
   */
  async refuseOther(): Promise<void> {
    await this.#refuseUnreadable()
    const found = await this.#redis.get(REDIS_KEYS.installation)
    this.#deployment_id ??= found
    if (found === this.#deployment_id) return
    throw new Error(
      found === null
        ? 'the store was emptied; this edge refuses all calls until an admin process has set it up again'
        : `the store belongs to deployment ${found}, this edge to ${this.#deployment_id}; restart it if that is intended`,
    )
  }

  async #refuseUnreadable(): Promise<void> {
    await refuseOldVersion(this.#redis)
    const mismatch = keyMismatch(this.#ring, await readStoredKeys(this.#redis))
    if (mismatch !== null) throw new Error(mismatch)
  }
}
