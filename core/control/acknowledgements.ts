import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import type { Acknowledgement } from './control-message.ts'
import { processOf } from './process-of.ts'

/** An acknowledgement may arrive before the response that says which one to wait for, so the latest ones are kept. */
const RECENT_ACKNOWLEDGEMENTS = 10_000

interface Waiter {
  readonly epoch: number
  readonly missing: Set<string>
  readonly heard: Map<string, Acknowledgement & { readonly after_ms: number }>
  readonly started_ms: number
  finish(): void
}

export interface Heard {
  /** By edge, with the time from the start of the wait; also of edges that were still ending calls when it was over. */
  readonly acknowledged: ReadonlyMap<string, Acknowledgement & { readonly after_ms: number }>
  readonly silent: readonly string[]
}

/** Receives acknowledgements and lets a caller wait for those of one control message. `nowMs` is monotonic. */
export class Acknowledgements {
  readonly #redis: RedisClient
  readonly #nowMs: () => number
  readonly #recent: { readonly acknowledgement: Acknowledgement; readonly heard_ms: number }[] = []
  readonly #waiters = new Set<Waiter>()

  constructor(redis: RedisClient, nowMs: () => number) {
    this.#redis = redis
    this.#nowMs = nowMs
  }

  /** Must be called with each message of the channel `acknowledgements`. */
  hear(text: string): void {
    const acknowledgement = parseAcknowledgement(text)
    if (acknowledgement === null) return
    const heard_ms = this.#nowMs()
    this.#recent.push({ acknowledgement, heard_ms })
    if (this.#recent.length > RECENT_ACKNOWLEDGEMENTS)
      this.#recent.splice(0, RECENT_ACKNOWLEDGEMENTS / 2)
    for (const waiter of this.#waiters) note(waiter, acknowledgement, heard_ms)
  }

  /** Waits until every edge has acknowledged the epoch and has ended its calls, at most `limit_ms` from `started_ms`, a time of the same clock. */
  async wait(
    epoch: number,
    edges: readonly string[],
    started_ms: number,
    limit_ms: number,
  ): Promise<Heard> {
    const missing = new Set(edges)
    const heard = new Map<string, Acknowledgement & { readonly after_ms: number }>()
    if (missing.size === 0) return { acknowledged: heard, silent: [] }
    await new Promise<void>((resolve) => {
      const left_ms = Math.max(0, started_ms + limit_ms - this.#nowMs())
      const timer = setTimeout(() => waiter.finish(), left_ms)
      const waiter: Waiter = {
        epoch,
        missing,
        heard,
        started_ms,
        finish: () => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
          resolve()
        },
      }
      this.#waiters.add(waiter)
      for (const { acknowledgement, heard_ms } of this.#recent)
        note(waiter, acknowledgement, heard_ms)
    })
    if (missing.size > 0) await this.#readStored(epoch, missing, heard, started_ms)
    return { acknowledged: heard, silent: [...missing].filter((edge) => !heard.has(edge)) }
  }

  /** The published acknowledgement can be lost although it was stored. */
  async #readStored(
    epoch: number,
    missing: Set<string>,
    heard: Map<string, Acknowledgement & { readonly after_ms: number }>,
    started_ms: number,
  ): Promise<void> {
    const stored = await this.#redis.hgetall(REDIS_KEYS.acknowledgements(epoch)).catch(() => ({}))
    for (const text of Object.values(stored)) {
      const acknowledgement = parseAcknowledgement(text)
      if (acknowledgement === null || !missing.has(processOf(acknowledgement))) continue
      if (acknowledgement.ending === heard.get(processOf(acknowledgement))?.ending) continue
      heard.set(processOf(acknowledgement), {
        ...acknowledgement,
        after_ms: this.#nowMs() - started_ms,
      })
    }
  }
}

function note(waiter: Waiter, acknowledgement: Acknowledgement, heard_ms: number): void {
  if (acknowledgement.epoch !== waiter.epoch) return
  if (!waiter.missing.has(processOf(acknowledgement))) return
  if (acknowledgement.ending === undefined) waiter.missing.delete(processOf(acknowledgement))
  waiter.heard.set(processOf(acknowledgement), {
    ...acknowledgement,
    after_ms: heard_ms - waiter.started_ms,
  })
  if (waiter.missing.size === 0) waiter.finish()
}

function parseAcknowledgement(text: string): Acknowledgement | null {
  try {
    const value = JSON.parse(text) as Partial<Acknowledgement>
    return typeof value.epoch === 'number' && typeof value.edge_id === 'string'
      ? (value as Acknowledgement)
      : null
  } catch {
    return null
  }
}
