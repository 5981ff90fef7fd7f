import { setTimeout as wait } from 'node:timers/promises'
import type { Lock } from '../catalogue/model.ts'
import { awaitEdges, finishSoon, type KillParts, OWN_FINISH_MS } from './await-edges.ts'
import { emptyReceipt } from './empty-receipt.ts'
import type { LockReceipt } from './lock-record.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import {
  type LockOrder,
  type NotLocked,
  publishLock,
  type RepeatedLock,
  type UnsignedLockOrder,
} from './publish-lock.ts'
import { withRows } from './with-counts.ts'

export interface MadeLock {
  readonly lock: Lock
  readonly receipt: LockReceipt
  /** It was there already. */
  readonly is_repeated: boolean
}

/** How long a repeated request waits for the receipt of the first: the answer is due within a second. */
const REPEATED_WAIT_MS = 900
const RECEIPT_LOOK_MS = 20

/** What no caller of a lock asks for. */
export const NO_CALL_COUNTS = { last_request: null, requests_last_hour: 0 } as const

/**
 * Creates a lock and returns the result on every edge, as it is after a second at most.
 * @throws if the store is unavailable or rejects the write
 */
export async function createLock(
  parts: KillParts,
  order: Omit<LockOrder, 'own_finish_ms'> | Omit<UnsignedLockOrder, 'own_finish_ms'>,
): Promise<MadeLock | NotLocked> {
  const locked = await publishLock(parts, { ...order, own_finish_ms: OWN_FINISH_MS })
  if (typeof locked === 'string') return locked
  if (!('record' in locked)) return await repeated(parts, locked)
  const { record } = locked
  const { counts, rows, isSettled } = await awaitEdges(parts, locked, true)
  const before = record.receipt ?? emptyReceipt(record.lock)
  const receipt = withRows(before, counts, rows, parts.now().toISOString())
  const done = { ...locked, record: { ...record, receipt } }
  await finishSoon(parts, done, { ...counts, metadata: NO_CALL_COUNTS }, isSettled)
  return { lock: record.lock, receipt: { ...receipt, edges: rows }, is_repeated: false }
}

/** In force on every edge, as its first answer says, which may not have been stored yet. */
async function repeated(parts: KillParts, locked: RepeatedLock): Promise<MadeLock> {
  const { redis, nowMs } = parts
  const { lock, sent_ms } = locked
  await awaitEdges(parts, locked)
  for (;;) {
    const text = await redis.hget(REDIS_KEYS.lockReceipts(lock.organization_id), lock.lock_id)
    const receipt = text === null ? emptyReceipt(lock) : (JSON.parse(text) as LockReceipt)
    if (receipt.complete || nowMs() - sent_ms > REPEATED_WAIT_MS)
      return { lock, receipt, is_repeated: true }
    await wait(RECEIPT_LOOK_MS)
  }
}
