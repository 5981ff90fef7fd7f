import { setTimeout as wait } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/seal.ts'
import { keyMismatch, readStoredKeys, type StoredKeys } from '../../core/store/stored-keys.ts'

/** How long a start waits for the store to tell its key; while the store is unavailable, a resync makes the check. */
const START_LIMIT_MS = 2_000
const POLL_MS = 50

/** Whether the store is the one of this edge: encrypted with a key that it has, and of the same deployment as before. */
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
    const deadline_ms = performance.now() + START_LIMIT_MS
    for (;;) {
      const stored = await readStoredKeys(this.#redis).catch(() => null)
      if (stored !== null) return this.#refuseOtherKey(stored)
      if (performance.now() > deadline_ms) return
      await wait(POLL_MS)
    }
  }

  /**
   * An emptied or different store does not know the kills that this edge knows; calls are refused until it is right.
   * @throws (rejects) while it is not
   */
  async refuseOther(): Promise<void> {
    this.#refuseOtherKey(await readStoredKeys(this.#redis))
    const found = await this.#redis.get(REDIS_KEYS.installation)
    this.#deployment_id ??= found
    if (found === this.#deployment_id) return
    throw new Error(
      found === null
        ? 'the store was emptied; this edge refuses all calls until an admin process has set it up again'
        : `the store belongs to deployment ${found}, this edge to ${this.#deployment_id}; restart it if that is intended`,
    )
  }

  #refuseOtherKey(stored: StoredKeys): void {
    const mismatch = keyMismatch(this.#ring, stored)
    if (mismatch !== null) throw new Error(mismatch)
  }
}
