import type { Acknowledgement, EdgeRecord } from '../control/control-message.ts'
import type { Acknowledgements } from '../control/acknowledgements.ts'
import { liveEdges } from '../control/live-edges.ts'
import { processOf } from '../control/process-of.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { waitForReplicas } from '../redis/wait-for-replicas.ts'
import { countEnded } from './count-ended.ts'
import { endedBy } from './ended-by.ts'
import { finishKill, type InProgress, progressKey } from './finish-kill.ts'
import type { KillCounts } from './kill-entries.ts'
import type { EdgeReceipt } from './kill-receipt.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'
import { silentRow } from './silent-row.ts'

/**
 * How long a kill waits for acknowledgements before it responds without the missing ones. What is read after that takes a round
 * trip, for which the wait is shorter if the store is slow: the response is due within a second, also while a machine closes
 * thousands of streams.
 */
const EDGE_WAIT_MS = 700
/** The acknowledgements take a round trip, too: this many times that of the kill itself is waited for in any case. */
const ROUND_TRIPS = 1.5
/** If the store is far, the response does not wait longer than this for the event. */
const RESPONSE_LIMIT_MS = 1000
/** The response does not wait longer than this for a replica. */
const REPLICA_WAIT_MS = 500
/** The work after the wait takes a few round trips. After this time a sweeper considers the process dead. */
const FINISH_WITHIN_MS = 2000
export const OWN_FINISH_MS = EDGE_WAIT_MS + FINISH_WITHIN_MS

export interface KillParts {
  readonly redis: RedisClient
  readonly acknowledgements: Acknowledgements
  readonly lease_ms: number
  /** Monotonic, the clock of `acknowledgements`. */
  readonly nowMs: () => number
  readonly now: () => Date
  readonly log: { warn(data: object, message: string): void }
}

/** A kill or a lock that has been published. */
export interface Published {
  readonly epoch: number
  /** Edges that may still hold a lease. */
  readonly edges: readonly string[]
  /** When it was sent to the store, by `nowMs`. */
  readonly sent_ms: number
}

export interface Awaited {
  readonly counts: Omit<KillCounts, 'metadata'>
  readonly rows: readonly EdgeReceipt[]
  /** Nothing is to come any more. */
  readonly isSettled: boolean
  /** Replicas of the store, and those that have received it; null if there are none. */
  readonly replicas: { readonly connected: number; readonly acknowledged: number } | null
}

/**
 * Waits for the acknowledgements of all edges, for less than a second.
 * @param mustKnow whether edges that do not know locks have to be found
 */
export async function awaitEdges(
  parts: KillParts,
  { epoch, edges, sent_ms }: Published,
  mustKnow = false,
): Promise<Awaited> {
  const { redis, acknowledgements, nowMs } = parts
  const [{ acknowledged, silent }, replicas, ignorant] = await Promise.all([
    acknowledgements.wait(epoch, edges, sent_ms, edgeWaitMs(nowMs() - sent_ms)),
    waitForReplicas(redis, REPLICA_WAIT_MS).catch(() => null),
    mustKnow ? orElse(ignorantEdges(redis, edges), new Set<string>()) : new Set<string>(),
  ])
  const heard = [...acknowledged.values()]
  const ended = countEnded(heard)
  // The rest only reports. If it fails, the kill itself is not affected.
  const [live, records] = await Promise.all([
    silent.length === 0 ? new Set<string>() : orElse(mayHoldLease(parts), new Set(silent)),
    silent.length === 0 ? [] : orElse(redis.hmget(REDIS_KEYS.edges, ...silent), []),
  ])
  const unheard = silent.filter((process_id) => live.has(process_id))
  return {
    counts: {
      ...ended,
      propagation_ms: Math.ceil(Math.max(0, ...heard.map(({ after_ms }) => round(after_ms)))),
      complete: unheard.length === 0 && ended.unconfirmed === 0 && ignorant.size === 0,
    },
    rows: [
      ...heard.map(({ after_ms, ...one }) => heardRow(one, round(after_ms), ignorant)),
      ...silent.map((process_id, i) => silentRow(process_id, records[i])),
    ],
    isSettled: unheard.length === 0 && heard.every(({ ending }) => ending === undefined),
    replicas,
  }
}

export const heardRow = (
  one: Acknowledgement,
  acknowledged_ms: number,
  ignorant: ReadonlySet<string>,
): EdgeReceipt => ({
  edge_id: one.edge_id,
  region: one.region,
  acknowledged_ms,
  ...endedBy(one),
  ...(ignorant.has(processOf(one)) ? { is_too_old: true } : {}),
})

/** Of some processes, those of an older version: they acknowledge a lock that they do not enforce. */
export async function ignorantEdges(
  redis: RedisClient,
  process_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (process_ids.length === 0) return new Set()
  const texts = await redis.hmget(REDIS_KEYS.edges, ...process_ids)
  return new Set(
    process_ids.filter((_, i) => {
      const text = texts[i]
      return text != null && (JSON.parse(text) as EdgeRecord).knows?.includes('lock') !== true
    }),
  )
}

/** Writes the event and the receipt. The response waits for it, but not for longer than a second in all. */
export async function finishSoon(
  parts: KillParts,
  published: Published & { readonly record: InProgress; readonly record_text: string },
  counts: KillCounts,
  isSettled: boolean,
): Promise<void> {
  const { epoch, sent_ms } = published
  const finishing = finish(parts, published, counts, isSettled).catch((error: unknown) =>
    parts.log.warn(
      { error: String(error), epoch },
      'writing the event of a kill or a lock failed; the sweeper retries it',
    ),
  )
  await Promise.race([finishing, wait(sent_ms + RESPONSE_LIMIT_MS - parts.nowMs())])
}

/**
 * Writes the event and the receipt; if something is still awaited, only the receipt, and a sweeper does the rest. A sweeper may have
 * published it again in the meantime, which changes the record; then read the new record.
 */
async function finish(
  { redis }: KillParts,
  {
    epoch,
    record,
    record_text,
  }: Published & { readonly record: InProgress; readonly record_text: string },
  counts: KillCounts,
  isSettled: boolean,
): Promise<void> {
  const next = isSettled ? null : { ...record, finish_after_ms: record.published_ms }
  for (let text: string | null = record_text; text !== null; ) {
    const { receipt = null } = record
    if (await finishKill(redis, epoch, { record, text }, isSettled ? counts : null, next, receipt))
      return
    const found: string | null = await redis.hget(progressKey(record), String(epoch))
    const isOwed: boolean =
      found !== null && found !== text && isEventOwed(found) === (record.event !== null)
    text = isOwed ? found : null
  }
}

const edgeWaitMs = (round_trip_ms: number): number =>
  Math.max(EDGE_WAIT_MS - round_trip_ms, Math.min(EDGE_WAIT_MS, round_trip_ms * ROUND_TRIPS))

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms)).unref()
  })

const isEventOwed = (text: string): boolean => (JSON.parse(text) as InProgress).event !== null

export const orElse = <T>(asked: Promise<T>, fallback: T): Promise<T> => asked.catch(() => fallback)

/** To the microsecond. */
const round = (ms: number): number => Math.max(0, Math.round(ms * 1000) / 1000)

/** An edge's own lease starts before the heartbeat that is stored. */
const mayHoldLease = async ({ redis, lease_ms }: KillParts): Promise<ReadonlySet<string>> =>
  new Set((await liveEdges(redis, lease_ms + LEASE_MARGIN_MS)).keys())
