import { ACTIVITY_MAX_ENTRIES, type ActivityEntry } from '../activity/activity-entry.ts'
import { deliveryTag } from '../change/delivery-tag.ts'
import { outboxKeys } from '../change/outbox-keys.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { type KillCounts, killedEntry, lockedEntry } from './kill-entries.ts'
import { RECEIPTS_MAX, type StoredReceipt } from './kill-receipt.ts'
import type { KillRecord } from './kill-record.ts'
import type { LockReceipt, LockRecord } from './lock-record.ts'

export type InProgress = KillRecord | LockRecord
export const isLock = (record: InProgress): record is LockRecord => 'lock' in record

/** The receipt of a lock goes with the lock. */
const KEEP_ALL = 1e9

/** Where it is until it is finished. */
export const progressKey = (record: InProgress): string =>
  isLock(record) ? REDIS_KEYS.lockings : REDIS_KEYS.kills

/**
 * Writes the pending event of a kill or a lock, if any, with the requested e-mail, replaces its record by `next` or removes it, and
 * replaces its kept receipt. Without counts the event stays pending.
 * @returns false, and writes nothing, if another process was first
 */
export async function finishKill(
  redis: RedisClient,
  epoch: number,
  { record, text }: { readonly record: InProgress; readonly text: string },
  counts: KillCounts | null,
  next: InProgress | null,
  receipt: StoredReceipt | LockReceipt | null,
): Promise<boolean> {
  const { organization_id } = record
  const entry = counts === null ? null : eventEntry(record, counts)
  const kept = isLock(record)
    ? REDIS_KEYS.lockReceipts(record.lock.organization_id)
    : REDIS_KEYS.killReceipts(organization_id)
  const written = await runScript(
    redis,
    'finish-kill',
    [
      progressKey(record),
      REDIS_KEYS.activity(organization_id),
      ...outboxKeys(organization_id),
      REDIS_KEYS.killMails,
      kept,
      REDIS_KEYS.killReceiptIndex(organization_id),
    ],
    [
      epoch,
      text,
      next === null ? '' : JSON.stringify(next),
      organization_id,
      ACTIVITY_MAX_ENTRIES,
      entry === null ? '' : JSON.stringify(entry),
      !isLock(record) && record.event?.notify.includes('email') ? 1 : 0,
      deliveryTag(isLock(record) ? 'locked' : 'agent_killed'),
      receipt === null ? '' : 'lock_id' in receipt ? receipt.lock_id : receipt.kill_id,
      receipt === null ? '' : JSON.stringify(receipt),
      isLock(record) ? KEEP_ALL : RECEIPTS_MAX,
    ],
  )
  return written === 1
}

function eventEntry(record: InProgress, counts: KillCounts): ActivityEntry | null {
  if (isLock(record))
    return record.event === null ? null : lockedEntry(record, record.event, counts)
  return record.event === null ? null : killedEntry(record, record.event, counts)
}
