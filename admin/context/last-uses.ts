import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { onBeat } from '../../core/system/on-beat.ts'

const FLUSH_INTERVAL_S = 2
/** Uses that wait to be written; beyond it the next ones of other tokens are not noted until the next flush. */
const WAITING_LIMIT = 10_000

/** When tokens were last used, written in batches, since a write for each request would cost more than it says. */
export class LastUses {
  readonly #redis: RedisClient
  readonly #now: () => Date
  readonly #stopFlushing: () => void
  #waiting = new Map<string, readonly [organization_id: string, token_id: string, ms: number]>()

  constructor(redis: RedisClient, now: () => Date) {
    this.#redis = redis
    this.#now = now
    this.#stopFlushing = onBeat(FLUSH_INTERVAL_S, () => void this.flush())
  }

  note(organization_id: string, token_id: string): void {
    if (this.#waiting.size >= WAITING_LIMIT) return
    this.#waiting.set(`${organization_id} ${token_id}`, [
      organization_id,
      token_id,
      this.#now().getTime(),
    ])
  }

  /** Those of a token that was deleted in the meantime are left out. A flush that fails loses what it held: the next use says it again. */
  async flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = new Map()
    const writes = [...waiting.values()].map(([organization_id, token_id, ms]) =>
      runScript(
        this.#redis,
        'note-use',
        [REDIS_KEYS.adminTokens(organization_id), REDIS_KEYS.adminTokenLastUsed(organization_id)],
        [token_id, ms],
      ),
    )
    await Promise.allSettled(writes)
  }

  async stop(): Promise<void> {
    this.#stopFlushing()
    await this.flush()
  }
}
