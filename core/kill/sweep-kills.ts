import { type Acknowledgement, FORGET_AFTER_LEASES } from '../control/control-message.ts'
import { liveEdges } from '../control/live-edges.ts'
import { processOf } from '../control/process-of.ts'
import type { Agent } from '../catalogue/model.ts'
import { commit } from '../change/commit.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { storeTimeMs } from '../redis/store-time.ts'
import { countEnded } from './count-ended.ts'
import { heardRow, ignorantEdges } from './await-edges.ts'
import { NO_CALL_COUNTS } from './create-lock.ts'
import { emptyReceipt } from './empty-receipt.ts'
import { finishKill, type InProgress, isLock } from './finish-kill.ts'
import type { KillCounts } from './kill-entries.ts'
import type { Counted, StoredReceipt } from './kill-receipt.ts'
import type { LockReceipt, LockRecord } from './lock-record.ts'
import type { KillRecord } from './kill-record.ts'
import { newerAgent } from './killable-agent.ts'
import { LEASE_MARGIN_MS } from './lease-margin.ts'
import { readCallCounts } from './read-call-counts.ts'
import { readStillUsableKeys } from './read-still-usable-keys.ts'
import { silentRow } from './silent-row.ts'
import { withCounts, withRows } from './with-counts.ts'
import { readableRecord } from '../store/stored-record.ts'

/** How long a live edge may leave a kill unacknowledged before it is published again. */
const PUBLISH_AGAIN_MS = 500
/** If an edge holds its lease but has not acknowledged for this long, another message will not help. */
const GIVE_UP_MS = 60_000
/** The event of a kill waits this long for every edge to have ended its calls. */
const EVENT_WAIT_MS = 5_000
/** How long the receipt of a kill waits for the last of its calls to end; acknowledgements are kept as long. */
const FOLLOW_MS = 3_600_000

/** How far the clocks of two stores may differ. */
const CLOCKS_DIFFER_MS = 2_000

interface Parts {
  readonly redis: RedisClient
  readonly lease_ms: number
  readonly log: { warn(data: object, message: string): void }
}

/**
 * Completes kills that their own process did not complete, from the stored acknowledgements, and publishes those again that a
 * live edge has not acknowledged. Any number of processes may do this concurrently.
 * @returns the number of kills that must be looked at soon; further ones wait only for an edge to end calls, and its
 * acknowledgement says so
 * @throws if the store is unavailable
 */
export async function sweepKills(parts: Parts): Promise<number> {
  const { redis, log } = parts
  if ((await redis.exists(REDIS_KEYS.kills, REDIS_KEYS.lockings)) === 0) return 0
  const [kills, lockings] = await Promise.all([
    redis.hgetall(REDIS_KEYS.kills),
    redis.hgetall(REDIS_KEYS.lockings),
  ])
  const texts = [...Object.entries(kills), ...Object.entries(lockings)]
  if (texts.length === 0) return 0
  const now_ms = await storeTimeMs(redis)
  // An edge's own lease starts before the heartbeat that is stored.
  const known = await liveEdges(redis, parts.lease_ms * FORGET_AFTER_LEASES)
  let urgent = 0
  for (const [epoch, text] of texts) {
    const isUrgent = await sweep(parts, Number(epoch), text, { now_ms, known }).catch(
      (error: unknown) => {
        log.warn({ error: String(error), epoch }, 'completing a kill failed; it will be retried')
        return true
      },
    )
    if (isUrgent) urgent++
  }
  return urgent
}

/** Returns whether it must be looked at soon. */
async function sweep(
  parts: Parts,
  epoch: number,
  text: string,
  { now_ms, known }: { readonly now_ms: number; readonly known: ReadonlyMap<string, number> },
): Promise<boolean> {
  const { redis, lease_ms, log } = parts
  const record = JSON.parse(text) as InProgress
  const stored = Object.values(await redis.hgetall(REDIS_KEYS.acknowledgements(epoch)))
  const heard = stored.map((one) => JSON.parse(one) as Acknowledgement)
  const acknowledged = new Set(heard.map(processOf))
  const silent = [...known].flatMap(([process_id, beat_age_ms]) =>
    beat_age_ms <= lease_ms + LEASE_MARGIN_MS && !acknowledged.has(process_id) ? [process_id] : [],
  )
  // A process that is gone has nothing more to say; one that is busy with thousands of calls may be late with its heartbeat.
  const isEnding = heard.some((one) => one.ending !== undefined && known.has(processOf(one)))
  // The clock of the store has stepped back since: the kill is not left alone for as long as the step.
  const isStepped = record.published_ms > now_ms + CLOCKS_DIFFER_MS
  const age_ms = isStepped ? GIVE_UP_MS : now_ms - record.published_ms
  const isAwaited = silent.length > 0 && age_ms < GIVE_UP_MS
  const isKept = isAwaited || (isEnding && age_ms < FOLLOW_MS)
  const isEventDue = record.event !== null && (!isKept || age_ms > EVENT_WAIT_MS)
  if (isAwaited && !isEventDue && now_ms - record.last_published_ms > PUBLISH_AGAIN_MS) {
    log.warn(
      { ...nameOf(record), silent },
      'edges have not acknowledged a kill or a lock; it is published again',
    )
    await (isLock(record)
      ? publishLockAgain(parts, epoch, text, record, now_ms)
      : publishAgain(parts, epoch, text, now_ms))
    return true
  }
  if (isStepped || now_ms >= record.finish_after_ms) {
    const ignorant = isLock(record)
      ? await ignorantEdges(redis, heard.map(processOf))
      : new Set<string>()
    const far = { heard, silent, ignorant, now_ms }
    const counts = await countsOf(redis, record, far)
    const receipt = await countedReceipt(redis, record, counts, far)
    if (!isKept || isEventDue || !isSame(receipt, record.receipt)) {
      const event = isEventDue ? null : record.event
      const next = isKept
        ? ({ ...record, event, ...(receipt === null ? {} : { receipt }) } as InProgress)
        : null
      await finishKill(redis, epoch, { record, text }, isEventDue ? counts : null, next, receipt)
      return isKept && (event !== null || isAwaited)
    }
  }
  return record.event !== null || isAwaited
}

interface SoFar {
  readonly heard: readonly Acknowledgement[]
  readonly silent: readonly string[]
  /** Of those heard, the ones that do not know locks. */
  readonly ignorant: ReadonlySet<string>
  readonly now_ms: number
}

async function countsOf(
  redis: RedisClient,
  record: InProgress,
  { heard, silent, ignorant, now_ms }: SoFar,
): Promise<KillCounts> {
  const { organization_id, published_ms } = record
  const ended = countEnded(heard)
  const last_us = Math.max(0, ...heard.map(({ stored_us }) => stored_us ?? 0))
  return {
    ...ended,
    propagation_ms: Math.max(0, Math.ceil((last_us - published_ms * 1000) / 1000)),
    complete: silent.length === 0 && ended.unconfirmed === 0 && ignorant.size === 0,
    metadata: isLock(record)
      ? NO_CALL_COUNTS
      : await readCallCounts(redis, organization_id, record.agent_id, now_ms),
  }
}

/** Whether two receipts differ in nothing but the time of the count. */
const isSame = (receipt: Counted | null, before: Counted | undefined): boolean =>
  JSON.stringify({ ...receipt, counted_at: null }) ===
  JSON.stringify({ ...before, counted_at: null })

/** The kept receipt with the stored acknowledgements; null if the kill was made by a process of version 0.2. */
async function countedReceipt(
  redis: RedisClient,
  record: InProgress,
  counts: KillCounts,
  { heard, silent, ignorant, now_ms }: SoFar,
): Promise<StoredReceipt | LockReceipt | null> {
  const { published_ms } = record
  if (record.receipt === undefined) return null
  const records = silent.length === 0 ? [] : await redis.hmget(REDIS_KEYS.edges, ...silent)
  const rows = [
    ...heard.map((one) =>
      heardRow(one, Math.max(0, (one.stored_us ?? 0) / 1000 - published_ms), ignorant),
    ),
    ...silent.map((process_id, i) => silentRow(process_id, records[i])),
  ]
  const counted_at = new Date(now_ms).toISOString()
  if (isLock(record))
    return withRows(record.receipt ?? emptyReceipt(record.lock), counts, rows, counted_at)
  const { receipt, organization_id, agent_id } = record
  if (receipt === undefined) return null
  const still_usable_keys = await readStillUsableKeys(redis, organization_id, agent_id, now_ms)
  return withCounts(receipt, counts, rows, { counted_at, still_usable_keys })
}

const nameOf = (record: InProgress): object =>
  isLock(record)
    ? { organization_id: record.lock.organization_id, lock_id: record.lock.lock_id }
    : { organization_id: record.organization_id, agent_id: record.agent_id }

/** Only while it is in force. */
async function publishLockAgain(
  { redis, lease_ms }: Parts,
  epoch: number,
  text: string,
  record: LockRecord,
  now_ms: number,
): Promise<void> {
  const { lock, event } = record
  const { organization_id, lock_id } = lock
  const { lockings } = REDIS_KEYS
  const locks = REDIS_KEYS.locks(organization_id)
  const committed = await commit(
    redis,
    {
      guards: [
        ['HGET', locks, lock_id, true],
        ['HGET', lockings, String(epoch), text],
      ],
      writes: [['HSET', lockings, epoch, JSON.stringify({ ...record, last_published_ms: now_ms })]],
      targets: [{ what: 'lock', organization_id, lock, again_of: epoch }],
    },
    lease_ms,
    'even_when_full',
  )
  const isLifted = committed.kind === 'refused' && committed.guard === 0
  if (isLifted && event === null) await redis.hdel(lockings, String(epoch))
}

/** Only while the kill is in force: calls of an agent that has since been reactivated or deleted must not be cut. */
async function publishAgain(
  { redis, lease_ms }: Parts,
  epoch: number,
  text: string,
  now_ms: number,
): Promise<void> {
  const record = JSON.parse(text) as KillRecord
  const { organization_id, agent_id, revision, killed_at } = record
  const agents = REDIS_KEYS.agents(organization_id)
  const agentText = await redis.hget(agents, agent_id)
  const agent =
    agentText === null
      ? null
      : (readableRecord<Agent>(agentText) ?? newerAgent(agentText, organization_id, agent_id))
  const kills = REDIS_KEYS.kills
  const stands = agent?.status === 'killed' && agent.revision === revision && agentText !== null
  if (!stands) {
    if (record.event === null) await redis.hdel(kills, String(epoch))
    return
  }
  await commit(
    redis,
    {
      guards: [
        ['HGET', agents, agent_id, agentText],
        ['HGET', kills, String(epoch), text],
      ],
      writes: [['HSET', kills, epoch, JSON.stringify({ ...record, last_published_ms: now_ms })]],
      targets: [{ what: 'kill', organization_id, agent_id, revision, killed_at, again_of: epoch }],
    },
    lease_ms,
    'even_when_full',
  )
}
