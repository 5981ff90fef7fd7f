import type { Acknowledgements } from '../control/acknowledgements.ts'
import { liveEdges } from '../control/live-edges.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { waitForReplicas } from '../redis/wait-for-replicas.ts'
import { countEnded } from './count-ended.ts'
import { endedBy } from './ended-by.ts'
import { finishKill } from './finish-kill.ts'
import type { KillCounts } from './kill-entries.ts'
import type { EdgeReceipt } from './kill-receipt.ts'
import type { KillRecord } from './kill-record.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'
import {
  type KillOrder,
  type PublishedKill,
  publishKill,
  type UnsignedOrder,
} from './publish-kill.ts'
import { readCallCounts } from './read-call-counts.ts'
import { readStillUsableKeys } from './read-still-usable-keys.ts'
import { silentRow } from './silent-row.ts'
import { withCounts } from './with-counts.ts'

/**
 * How long a kill waits for acknowledgements before it responds without the missing ones. What is read after that takes a round
 * trip, for which the wait is shorter if the store is slow: the response is due within a second.
 */
const EDGE_WAIT_MS = 900
/** The acknowledgements take a round trip, too: this many times that of the kill itself is waited for in any case. */
const ROUND_TRIPS = 1.5
/** If the store is far, the response does not wait longer than this for the event. */
const RESPONSE_LIMIT_MS = 1000
/** The response does not wait longer than this for a replica. */
const REPLICA_WAIT_MS = 500
/** The work after the wait takes a few round trips. After this time a sweeper considers the process dead. */
const FINISH_WITHIN_MS = 2000

export interface KillParts {
  readonly redis: RedisClient
  readonly acknowledgements: Acknowledgements
  readonly lease_ms: number
  /** Monotonic, the clock of `acknowledgements`. */
  readonly nowMs: () => number
  readonly now: () => Date
  readonly log: { warn(data: object, message: string): void }
}

/** The result of a kill. */
export interface KillReceipt {
  readonly status: 'killed'
  /** Of the kept receipt. */
  readonly kill_id: string | null
  readonly agent_id: string
  readonly killed_at: string
  readonly credentials_revoked: number
  readonly in_flight_requests_terminated: number
  /** Open tunnels of the forward proxy that were closed. */
  readonly tunnels_terminated: number
  /** From the publish to the last acknowledgement, on the clock of this process. */
  readonly propagation_ms: number
  /** Every edge has acknowledged, or its lease has certainly expired, and no call is unconfirmed. */
  readonly complete: boolean
  readonly edges: readonly EdgeReceipt[]
  readonly still_usable_keys: readonly string[]
  /** Replicas of the store, and those that have received the kill; null if there are none. */
  readonly replicas: { readonly connected: number; readonly acknowledged: number } | null
}

type Unfinished<Order> = Omit<Order, 'own_finish_ms'>

/**
 * Kills an agent and returns the result on every edge, as it is after a second at most.
 * @returns null if the agent does not exist; `not_signed_in` if it is not certain that the caller may do this
 * @throws if the store is unavailable or rejects the write
 */
export async function killAgent(
  parts: KillParts,
  order: Unfinished<KillOrder>,
): Promise<KillReceipt | null>
export async function killAgent(
  parts: KillParts,
  order: Unfinished<KillOrder> | Unfinished<UnsignedOrder>,
): Promise<KillReceipt | null | 'not_signed_in'>
export async function killAgent(
  parts: KillParts,
  order: Unfinished<KillOrder> | Unfinished<UnsignedOrder>,
): Promise<KillReceipt | null | 'not_signed_in'> {
  const { redis, acknowledgements, now, log } = parts
  const own_finish_ms = EDGE_WAIT_MS + FINISH_WITHIN_MS
  const killed = await publishKill(parts, { ...order, own_finish_ms })
  if (killed === null || killed === 'not_signed_in') return killed
  const { epoch, edges, record, credentials_revoked } = killed
  const { organization_id, agent_id } = record
  const [{ acknowledged, silent }, replicas] = await Promise.all([
    acknowledgements.wait(epoch, edges, killed.sent_ms, edgeWaitMs(parts.nowMs() - killed.sent_ms)),
    waitForReplicas(redis, REPLICA_WAIT_MS).catch(() => null),
  ])
  const heard = [...acknowledged.values()]
  const ended = countEnded(heard)
  const propagation_ms = Math.ceil(Math.max(0, ...heard.map(({ after_ms }) => round(after_ms))))
  // The rest only reports the kill. If it fails, the kill itself is not affected.
  const [live, records, still_usable_keys, metadata] = await Promise.all([
    silent.length === 0 ? new Set<string>() : orElse(mayHoldLease(parts), new Set(silent)),
    silent.length === 0 ? [] : orElse(redis.hmget(REDIS_KEYS.edges, ...silent), []),
    orElse(readStillUsableKeys(redis, organization_id, agent_id, now().getTime()), []),
    orElse(readCallCounts(redis, organization_id, agent_id, now().getTime()), NO_CALLS),
  ])
  const unheard = silent.filter((process_id) => live.has(process_id))
  const complete = unheard.length === 0 && ended.unconfirmed === 0
  const counts = {
    ...ended,
    propagation_ms,
    complete,
    metadata,
  }
  const rows = [
    ...heard.map(({ after_ms, ...one }) => ({
      edge_id: one.edge_id,
      region: one.region,
      acknowledged_ms: round(after_ms),
      ...endedBy(one),
    })),
    ...silent.map((process_id, i) => silentRow(process_id, records[i])),
  ]
  const counted = { counted_at: now().toISOString(), still_usable_keys }
  const receipt = record.receipt && withCounts(record.receipt, counts, rows, counted)
  const done = { ...killed, record: { ...record, ...(receipt === undefined ? {} : { receipt }) } }
  const isSettled = unheard.length === 0 && heard.every(({ ending }) => ending === undefined)
  const finishing = finish(parts, done, counts, isSettled).catch((error: unknown) =>
    log.warn(
      { error: String(error), epoch },
      'writing the event of a kill failed; the sweeper retries it',
    ),
  )
  await Promise.race([finishing, wait(killed.sent_ms + RESPONSE_LIMIT_MS - parts.nowMs())])
  return {
    status: 'killed',
    kill_id: record.receipt?.kill_id ?? null,
    agent_id,
    killed_at: record.killed_at,
    credentials_revoked,
    in_flight_requests_terminated: counts.requests_terminated,
    tunnels_terminated: counts.tunnels_terminated,
    propagation_ms,
    complete,
    edges: rows,
    still_usable_keys,
    replicas,
  }
}

/**
 * Writes the event and the receipt; if something is still awaited, only the receipt, and a sweeper does the rest. A sweeper may have
 * published the kill again in the meantime, which changes the record; then read the new record.
 */
async function finish(
  { redis }: KillParts,
  { epoch, record, record_text }: PublishedKill,
  counts: KillCounts,
  isSettled: boolean,
): Promise<void> {
  const next = isSettled ? null : { ...record, finish_after_ms: record.published_ms }
  for (let text: string | null = record_text; text !== null; ) {
    const { receipt = null } = record
    if (await finishKill(redis, epoch, { record, text }, isSettled ? counts : null, next, receipt))
      return
    const found: string | null = await redis.hget(REDIS_KEYS.kills, String(epoch))
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

const isEventOwed = (text: string): boolean => (JSON.parse(text) as KillRecord).event !== null

const NO_CALLS = { last_request: null, requests_last_hour: 0 } as const

const orElse = <T>(asked: Promise<T>, fallback: T): Promise<T> => asked.catch(() => fallback)

/** To the microsecond. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000

/** An edge's own lease starts before the heartbeat that is stored. */
const mayHoldLease = async ({ redis, lease_ms }: KillParts): Promise<ReadonlySet<string>> =>
  new Set((await liveEdges(redis, lease_ms + LEASE_MARGIN_MS)).keys())
