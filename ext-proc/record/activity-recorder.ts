import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { floodDueMs } from '../../core/activity/flood-entry.ts'
import { LogWriter, type WriteMark } from '../../core/change/log-writer.ts'
import { lineOfEntry, recordLines } from '../../core/change/record-entries.ts'
import { isPacked } from '../../core/activity/is-packed.ts'
import { BLOCK_ENTRIES_MAX } from '../../core/activity/pack-block.ts'
import { recordBlocks } from '../../core/change/record-blocks.ts'
import { eventRow } from '../../core/catalogue/events.ts'
import type { EdgeNumber } from '../../core/metrics/metric-catalogue.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { RecentRefusals } from './recent-refusals.ts'
import { TurnBatches } from './turn-batches.ts'
import { type WaitingCount, WaitingRefusals, wasNotRun } from './waiting-refusals.ts'

/** Allowed calls are written in blocks: a crash costs at most this much of them, unless `strict`. */
const FLUSH_INTERVAL_MS = 100
const BATCH_MAX = 4 * BLOCK_ENTRIES_MAX
/** Fewer entries are written one by one: a block of them would save nothing. */
const BLOCK_ENTRIES_MIN = 3
/** So many are written without waiting for more: a block of twice as many would save little. */
const SOON_ENTRIES = BLOCK_ENTRIES_MAX / 2
/** Entries that are written before the response to their call, and that arise in one turn of the event loop: some 100 kB. */
const TURN_ENTRIES_MAX = 64
/** A number alone, so only its sum is written. */
const TURN_COUNTS_MAX = 10_000
/** Entries that wait while Redis is slow; beyond, the oldest are dropped and counted. */
const QUEUE_MAX = 20_000
/** Refusals of one agent for one reason that are recorded in full each minute; further ones are counted. */
const FULL_REFUSALS_PER_MINUTE = 120
/** Pairs of agent and reason per minute whose first refusals are recorded in full; those of further pairs are only counted. */
const FLOOD_KINDS_MAX = 10_000
/** Minutes of floods that wait for an admin process to log them; older ones are dropped. */
const FLOODS_MAX = 50_000
const COUNTS_TTL_S = 30 * 24 * 3600
const UNKNOWN_CALL_SAMPLES_PER_MINUTE = 20
/** While the log cannot be written, every flush fails; this is reported at most once per interval. */
const FAILURE_NOTICE_INTERVAL_MS = 5_000

/** An entry that waits for its batch, as core/lua/record.lua takes it. */
interface Waiting {
  readonly organization_id: string
  readonly line: string
  readonly is_packed: boolean
}

interface RecorderParts {
  readonly redis: RedisClient
  readonly nowMs: () => number
  readonly log: {
    warn(data: object, message: string): void
    info(data: object, message: string): void
  }
}

/** Writes what was decided to the activity log (invariant 6), bounded whatever arrives. */
export class ActivityRecorder {
  readonly #parts: RecorderParts
  /** Set while something waits to be written, so that an idle process is not woken. */
  #timer: NodeJS.Timeout | null = null
  #isStopped = false
  readonly #writer: LogWriter
  readonly #refusals: WaitingRefusals
  readonly #recent = new RecentRefusals(() => performance.now())
  /** Lines by organization. */
  readonly #turnLines: TurnBatches<string>
  readonly #turnCounts: TurnBatches<WaitingCount>
  #queue: Waiting[] = []
  /** Batches of which it is not known whether the store has written them; nothing of the queue is written before that is known. */
  #unsure: { readonly group: Group; readonly batch: number }[] = []
  #lost = 0
  #counted = 0
  #minute = 0
  #floods = new Map<string, number>()
  #unknownSamples = 0
  #flushing: Promise<void> | null = null
  #failures = 0
  #failureTold_ms = Number.NEGATIVE_INFINITY

  constructor(parts: RecorderParts) {
    this.#parts = parts
    const { redis } = parts
    this.#writer = new LogWriter(redis)
    this.#refusals = new WaitingRefusals({
      redis,
      writer: this.#writer,
      nowMs: () => performance.now(),
      onLost: (count) => {
        this.#lost += count
      },
      onWritten: ({ organization_id, id, line }) => this.#recent.add(organization_id, id, line),
    })
    this.#turnLines = new TurnBatches(TURN_ENTRIES_MAX, (organization_id, lines) =>
      recordLines(redis, organization_id, lines, this.#writer.mark),
    )
    this.#turnCounts = new TurnBatches(TURN_COUNTS_MAX, (_, counts) => this.#writeCounts(counts))
  }

  get metrics() {
    return {
      agw_activity_waiting_entries:
        this.#queue.length +
        this.#unsure.reduce((sum, { group }) => sum + group.waiting.length, 0) +
        this.#refusals.size,
      agw_activity_lost_total: this.#lost,
      agw_refusals_counted_total: this.#counted,
    } satisfies Partial<Record<EdgeNumber, number>>
  }

  /** Takes the entry of a call that went on; it is written with the next batch. */
  allowed(entry: ActivityEntry): void {
    this.finished(entry.organization_id, lineOfEntry(entry))
  }

  /** The same for an entry that is a line already. */
  finished(organization_id: string, line: string): void {
    if (this.#queue.length >= QUEUE_MAX) {
      this.#queue.splice(0, BATCH_MAX)
      this.#lost += BATCH_MAX
    }
    // A line begins with the tag of an event that webhooks receive, or with the tab after it.
    const is_packed = line.startsWith('\t') && isPacked(line)
    this.#queue.push({ organization_id, line, is_packed })
    if (this.#queue.length >= BATCH_MAX) void this.flush()
    else this.#writeSoon()
  }

  /** All that came together was taken: if it is much, it is written while it is in the caches of the processor. */
  settle(): void {
    if (this.#isStopped || this.#queue.length < SOON_ENTRIES) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    void this.flush().then(() => this.#writeWhatWaits())
  }

  /**
   * Resolves when the entry of an allowed call is in the log.
   * @throws (rejects) when Redis has not taken it
   */
  async allowedNow(entry: ActivityEntry): Promise<void> {
    await this.#turnLines.add(entry.organization_id, lineOfEntry(entry))
  }

  /**
   * Resolves when the refusal is in the log, or in a count of a flood. If the store does not take it, it waits in memory and
   * is written when the store answers again; the refusal of the call does not wait for that.
   */
  async refused(entry: ActivityEntry): Promise<void> {
    const { organization_id, agent_id, reason } = entry
    const line = lineOfEntry(entry)
    const isCounted = eventRow(entry.event)?.when_frequent === 'counted'
    try {
      if (isCounted && this.#isFlood(`${organization_id} ${agent_id} ${reason}`)) {
        await this.#countRefusal(organization_id, `${agent_id ?? '-'} ${reason}`)
        return
      }
      await this.#turnLines.add(organization_id, line)
      this.#recent.add(organization_id, entry.id, line)
    } catch (error) {
      this.#parts.log.warn(
        { error: messageOf(error), entry },
        'a refusal could not be written to the activity log; it is written when the store answers',
      )
      const may_be_there = !wasNotRun(error)
      this.#writeSoon()
      if (!this.#refusals.add({ organization_id, id: entry.id, line, may_be_there }))
        await this.#countRefusal(organization_id, `${agent_id ?? '-'} ${reason}`)
    }
  }

  /** The connection to the store is new, and may lead to one that lacks the latest refusals. */
  storeMayHaveChanged(): void {
    for (const refusal of this.#recent.all) this.#refusals.add(refusal)
    this.#writeSoon()
  }

  /** A refused call without a known organization: counted, and a sample goes to the process log. */
  async refusedUnknown(reason: Reason, sample: Readonly<Record<string, unknown>>): Promise<void> {
    this.#turnMinute()
    if (this.#unknownSamples++ < UNKNOWN_CALL_SAMPLES_PER_MINUTE)
      this.#parts.log.info({ reason, ...sample }, 'refused a call without a known organization')
    this.#counted++
    const key = REDIS_KEYS.unknownCalls(this.#minute)
    const write = (store: RedisClient, count: number): Promise<unknown> =>
      Promise.all([store.hincrby(key, reason, count), store.expire(key, COUNTS_TTL_S)])
    const name = `${key} ${reason}`
    await this.#turnCounts.add(name, { name, write })
  }

  /** Writes what waits; resolves when it is written. */
  async flush(): Promise<void> {
    if (this.#flushing !== null) return this.#flushing
    if (this.#queue.length === 0 && this.#unsure.length === 0) return
    this.#flushing = this.#writeQueue()
    await this.#flushing
    this.#flushing = null
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#flushing
    await this.flush()
    await this.#refusals.writeNow()
  }

  #writeSoon(): void {
    if (this.#isStopped) return
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      void this.flush()
      void this.#refusals.write().then(() => this.#writeWhatWaits())
      this.#writeWhatWaits()
    }, FLUSH_INTERVAL_MS)
  }

  #writeWhatWaits(): void {
    if (this.#queue.length + this.#unsure.length + this.#refusals.size > 0) this.#writeSoon()
  }

  async #writeQueue(): Promise<void> {
    if (this.#unsure.length > 0 && !(await this.#settleUnsure())) return
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX)
      const written = await Promise.all(groupsOf(batch).map((group) => this.#write(group)))
      if (written.includes(false)) return
    }
  }

  /** Returns whether the log has taken them; if not, they are written again where that cannot double them. */
  async #write(group: Group): Promise<boolean> {
    const by = this.#writer.next(logOf(group))
    try {
      await writeGroup(this.#parts.redis, group, by)
      return true
    } catch (error) {
      if (wasNotRun(error)) this.#putBack(group)
      else this.#unsure.push({ group, batch: by.batch })
      this.#writeSoon()
      this.#tellFailure(error)
      return false
    }
  }

  #putBack({ waiting }: Group): void {
    if (this.#queue.length + waiting.length > QUEUE_MAX) this.#lost += waiting.length
    else this.#queue = [...waiting, ...this.#queue]
  }

  /** Returns whether it is known now which batches were written; the others wait again. */
  async #settleUnsure(): Promise<boolean> {
    try {
      const last = await this.#writer.giveUp(this.#unsure.map(({ group }) => logOf(group)))
      const missing = this.#unsure.filter(({ batch }, i) => last[i] !== batch)
      this.#unsure = []
      for (const { group } of missing) this.#putBack(group)
      return true
    } catch (error) {
      this.#writeSoon()
      this.#tellFailure(error)
      return false
    }
  }

  #tellFailure(error: unknown): void {
    this.#failures++
    const now_ms = this.#parts.nowMs()
    if (now_ms - this.#failureTold_ms < FAILURE_NOTICE_INTERVAL_MS) return
    this.#parts.log.warn(
      {
        error: messageOf(error),
        failures: this.#failures,
        waiting: this.#queue.length,
        lost: this.#lost,
      },
      'the activity log cannot be written',
    )
    this.#failures = 0
    this.#failureTold_ms = now_ms
  }

  #isFlood(kind: string): boolean {
    this.#turnMinute()
    const seen = this.#floods.get(kind) ?? 0
    if (seen === 0 && this.#floods.size >= FLOOD_KINDS_MAX) return true
    this.#floods.set(kind, seen + 1)
    return seen >= FULL_REFUSALS_PER_MINUTE
  }

  #turnMinute(): void {
    const minute = Math.floor(this.#parts.nowMs() / 60_000)
    if (minute === this.#minute) return
    this.#minute = minute
    this.#floods = new Map()
    this.#unknownSamples = 0
  }

  /** The log tells of the count when the minute is over (admin/activity/tell-floods.ts). */
  async #countRefusal(organization_id: string, field: string): Promise<void> {
    this.#counted++
    const minute = this.#minute
    const keys = [
      REDIS_KEYS.refusalCounts(organization_id, minute),
      REDIS_KEYS.refusalFloods,
    ] as const
    const name = `${organization_id} ${minute}`
    const write = (store: RedisClient, count: number): Promise<unknown> => {
      const args = [field, COUNTS_TTL_S, name, floodDueMs(minute), FLOODS_MAX, count]
      return runScript(store, 'count-refusal', keys, args)
    }
    await this.#turnCounts.add(`${name} ${field}`, { name: `${name} ${field}`, write })
  }

  /** All of one name. */
  async #writeCounts(counts: readonly WaitingCount[]): Promise<void> {
    const [counted] = counts
    if (counted === undefined) return
    try {
      await counted.write(this.#parts.redis, counts.length)
    } catch (error) {
      this.#writeSoon()
      if (wasNotRun(error)) this.#refusals.count(counted, counts.length)
      else this.#lost += counts.length
    }
  }
}

/** What one script writes: entries of one organization, all as a block or none. */
interface Group {
  readonly organization_id: string
  readonly is_packed: boolean
  readonly waiting: Waiting[]
}

function groupsOf(batch: readonly Waiting[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const one of batch) {
    const { organization_id, is_packed } = one
    const name = logOf(one)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, { organization_id, is_packed, waiting: [one] })
    else group.waiting.push(one)
  }
  return [...groups.values()]
}

const logOf = ({
  organization_id,
  is_packed,
}: Pick<Group, 'organization_id' | 'is_packed'>): string => `${organization_id} ${is_packed}`

async function writeGroup(
  redis: RedisClient,
  { organization_id, is_packed, waiting }: Group,
  by: WriteMark,
): Promise<void> {
  const lines = waiting.map(({ line }) => line)
  if (is_packed && lines.length >= BLOCK_ENTRIES_MIN) {
    // Without the tab before them and the line feed after them.
    const texts = lines.map((line) => line.slice(1, -1))
    if (await recordBlocks(redis, organization_id, texts, by)) return
  }
  await recordLines(redis, organization_id, lines, by)
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
