import type { LogWriter } from '../../core/change/log-writer.ts'
import { recordLines } from '../../core/change/record-entries.ts'
import { isStoreError } from '../../core/redis/is-store-error.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'

/** Refusals that wait with all their facts: some 2 kB each, and 20 times as much at most. Further ones are counted. */
export const WAITING_REFUSALS_MAX = 10_000
const WAITING_CHARACTERS_MAX = 64 << 20
/** Agents times reasons times minutes that are counted apart. */
const COUNTS_MAX = 10_000
const BATCH_MAX = 100
/** What of a log is searched for refusals of which it is not known whether they were written. */
const SEARCHED_ROWS = 2_000
const SEARCHED_BYTES = 32 << 20
const TRY_AGAIN_MS = 500

export interface WaitingRefusal {
  readonly organization_id: string
  readonly id: string
  /** As core/lua/record.lua takes it. */
  readonly line: string
  /** The store may have written it, although its answer did not arrive. */
  readonly may_be_there: boolean
}

/** A number of refusals, and how it is written. */
export interface WaitingCount {
  readonly name: string
  readonly write: (redis: RedisClient, count: number) => Promise<unknown>
}

interface Parts {
  readonly redis: RedisClient
  readonly writer: LogWriter
  readonly nowMs: () => number
  readonly onLost: (count: number) => void
  /** A refusal that waited is in the log. */
  readonly onWritten: (refusal: WaitingRefusal) => void
}

/** Refusals that could not be written while the store was unavailable. They are written when it answers again. */
export class WaitingRefusals {
  readonly #parts: Parts
  readonly #counts = new Map<string, { readonly counted: WaitingCount; count: number }>()
  /** By id: each waits once, however often it is handed over. */
  readonly #entries = new Map<string, WaitingRefusal>()
  /** Of all lines that wait. */
  #characters = 0
  #writing: Promise<void> | null = null
  #failed_ms = Number.NEGATIVE_INFINITY

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get size(): number {
    let size = this.#entries.size
    for (const { count } of this.#counts.values()) size += count
    return size
  }

  /** Returns false at the bound: the refusal can still be counted. */
  add(refusal: WaitingRefusal): boolean {
    if (this.#entries.has(refusal.id)) return true
    if (this.#entries.size >= WAITING_REFUSALS_MAX) return false
    if (this.#characters + refusal.line.length > WAITING_CHARACTERS_MAX) return false
    this.#characters += refusal.line.length
    this.#entries.set(refusal.id, refusal)
    this.#failed_ms = this.#parts.nowMs()
    return true
  }

  count(counted: WaitingCount, count: number): void {
    const known = this.#counts.get(counted.name)
    if (known !== undefined) known.count += count
    else if (this.#counts.size >= COUNTS_MAX) this.#parts.onLost(count)
    else this.#counts.set(counted.name, { counted, count })
  }

  /** Writes what waits, in order; what the store does not take waits on. */
  async write(): Promise<void> {
    if (this.#writing !== null) return this.#writing
    if (this.#entries.size === 0 && this.#counts.size === 0) return
    if (Math.abs(this.#parts.nowMs() - this.#failed_ms) < TRY_AGAIN_MS) return
    await this.writeNow()
  }

  async writeNow(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
    })
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      const [first] = this.#entries.values()
      if (first === undefined) break
      const { organization_id } = first
      const own = [...this.#entries.values()].filter(
        (one) => one.organization_id === organization_id,
      )
      const batch = own.slice(0, BATCH_MAX)
      if (!(await this.#writeEntries(organization_id, batch))) return
      for (const { id } of batch) this.#entries.delete(id)
      this.#characters -= charactersOf(batch)
    }
    for (const [name, { counted, count }] of this.#counts) {
      this.#counts.delete(name)
      try {
        await counted.write(this.#parts.redis, count)
      } catch (error) {
        this.#failed_ms = this.#parts.nowMs()
        // One that may have arrived would be counted twice.
        if (wasNotRun(error)) this.#counts.set(name, { counted, count })
        else this.#parts.onLost(count)
        return
      }
    }
  }

  /** Returns false if the batch must wait. */
  async #writeEntries(organization_id: string, batch: readonly WaitingRefusal[]): Promise<boolean> {
    const { redis, writer, nowMs, onLost, onWritten } = this.#parts
    try {
      const unsure = batch.flatMap(({ may_be_there, id }) => (may_be_there ? [id] : []))
      if (unsure.length > 0) await writer.giveUp()
      const there = await recentOf(redis, organization_id, unsure)
      const lines = batch.flatMap(({ id, line }) => (there.includes(id) ? [] : [line]))
      await recordLines(redis, organization_id, lines, writer.mark)
      for (const refusal of batch) onWritten(refusal)
      return true
    } catch (error) {
      this.#failed_ms = nowMs()
      if (!isStoreError(error)) {
        // Waiting would not help, and would hold up the others.
        onLost(batch.length)
        return true
      }
      if (!wasNotRun(error))
        for (const one of batch) this.#entries.set(one.id, { ...one, may_be_there: true })
      return false
    }
  }
}

const charactersOf = (refusals: readonly WaitingRefusal[]): number =>
  refusals.reduce((sum, { line }) => sum + line.length, 0)

/** Whether the store has surely not done what failed: it said so, or was not asked. */
export function wasNotRun(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === 'ReplyError' || error.message.includes("Stream isn't writeable")
}

/** Those of the entries that are among the newest of the log. */
async function recentOf(
  redis: RedisClient,
  organization_id: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const keys = [REDIS_KEYS.activity(organization_id)] as const
  const args = [SEARCHED_ROWS, SEARCHED_BYTES, ...ids]
  return (await runScript(redis, 'find-recent', keys, args)) as readonly string[]
}
