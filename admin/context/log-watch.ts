import { setTimeout as wait } from 'node:timers/promises'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { onBeat } from '../../core/system/on-beat.ts'

/** How long one read blocks; new organizations are seen in between. */
const BLOCK_MS = 2_000
/** Under load, the logs are looked at this often: what the jobs do costs by the round, and hardly by the entry. */
const PACE_MS = 1_000
const STORE_PAUSE_MS = 500

/**
 * Wakes the jobs that follow the logs of all organizations, so that an idle process does not read each of them several times a
 * second. While the store does not answer, nothing is woken; jobs wait for a limited time in any case.
 */
export class LogWatch {
  readonly #blocking: RedisClient
  readonly #stopped = new AbortController()
  readonly #waiting = new Set<() => void>()
  /** The newest row of each log that has grown. Of the others, only what comes while a read blocks is seen. */
  #newest = new Map<string, string>()
  #looks = 0

  /** @param blocking a connection of its own, which `stop` closes */
  constructor(blocking: RedisClient) {
    this.#blocking = blocking
  }

  start(): void {
    void this.#run()
  }

  stop(): void {
    this.#stopped.abort()
    this.#blocking.disconnect()
  }

  /** What a job reads after this, it need not be woken for. */
  get mark(): number {
    return this.#looks
  }

  /**
   * Resolves after `pause_ms`, and once a log has grown since `mark` or all of `most_ms` is over, or when it is aborted. Who does not
   * pause does not wait.
   */
  async grown(mark: number, pause_ms: number, most_ms: number, signal: AbortSignal): Promise<void> {
    await wait(pause_ms, undefined, { signal }).catch(() => undefined)
    const left_ms = pause_ms === 0 ? 0 : most_ms - pause_ms
    if (signal.aborted || this.#looks !== mark || left_ms <= 0) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        stop()
        signal.removeEventListener('abort', end)
        this.#waiting.delete(end)
        resolve()
      }
      const stop = onBeat(Math.ceil(left_ms / 1_000), end)
      signal.addEventListener('abort', end)
      this.#waiting.add(end)
    })
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      const pause_ms = await this.#look().catch(() => STORE_PAUSE_MS)
      await wait(pause_ms, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Returns how long to wait before the next look. */
  async #look(): Promise<number> {
    const organization_ids = await this.#blocking.hkeys(REDIS_KEYS.organizations)
    if (organization_ids.length === 0) return BLOCK_MS
    const newest = new Map(organization_ids.map((id) => [id, this.#newest.get(id) ?? '$']))
    this.#newest = newest
    const keys = organization_ids.map((id) => REDIS_KEYS.activity(id))
    const places = newest.values()
    const found = await this.#blocking.xread(
      'COUNT',
      1,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...keys,
      ...places,
    )
    if (found === null) return 0
    const names = new Set(found.map(([key]) => key))
    const grown = organization_ids.filter((_, i) => names.has(keys[i] ?? ''))
    const rows = await Promise.all(
      grown.map((id) => this.#blocking.xrevrange(REDIS_KEYS.activity(id), '+', '-', 'COUNT', 1)),
    )
    for (const [i, [row]] of rows.entries()) newest.set(grown[i] ?? '', row?.[0] ?? '$')
    this.#looks++
    for (const end of this.#waiting) end()
    return PACE_MS
  }
}
