import { randomBytes } from 'node:crypto'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'

/** Longer than a store is paused. */
const KEPT_S = 24 * 3600

/** Who writes to a log, and which of its writes this is. */
export interface WriteMark {
  readonly key: string
  readonly mark: string
}

/** The store has not run a write, since its writer has given it up. An earlier attempt may have been run. */
export class GivenUpError extends Error {
  constructor() {
    super('the write to the activity log was given up')
  }
}

/** Of writes that are not repeated. */
export const UNMARKED: WriteMark = { key: REDIS_KEYS.logWriter('-'), mark: `0 ${KEPT_S}` }

/**
 * A process that repeats writes whose answer did not come. A store that was paused may still run them later, even after the
 * connection was replaced, so it gives them up before it looks what was written.
 */
export class LogWriter {
  readonly #redis: RedisClient
  readonly #key = REDIS_KEYS.logWriter(randomBytes(12).toString('base64url'))
  #generation = 0
  #batch = 0

  constructor(redis: RedisClient) {
    this.#redis = redis
  }

  get mark(): WriteMark {
    return { key: this.#key, mark: `${this.#generation} ${KEPT_S}` }
  }

  /** Of the next batch of a log: there is one at a time. */
  next(log: string): WriteMark & { readonly batch: number } {
    const batch = ++this.#batch
    return { key: this.#key, mark: `${this.#generation} ${KEPT_S} ${batch} ${log}`, batch }
  }

  /**
   * Gives up all writes before. Resolves with the last batch of each log that was written.
   * @throws (rejects) if the store does not answer; then it is not certain that they are given up
   */
  async giveUp(logs: readonly string[] = []): Promise<readonly (number | null)[]> {
    const generation = ++this.#generation
    const last = (await runScript(
      this.#redis,
      'fence-writer',
      [this.#key],
      [generation, KEPT_S, ...logs],
    )) as readonly (string | null)[]
    return logs.map((_log, i) => (last[i] == null ? null : Number(last[i])))
  }
}
