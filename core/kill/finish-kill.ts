import { ACTIVITY_MAX_ENTRIES } from '../activity/activity-entry.ts'
import { deliveryTag } from '../outbox/delivery-tag.ts'
import { outboxKeys } from '../outbox/outbox-keys.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { type KillCounts, killedEntry } from './kill-entries.ts'
import { RECEIPTS_MAX, type StoredReceipt } from './kill-receipt.ts'
import type { KillRecord } from './kill-record.ts'

/**
 * Writes the pending event of a kill, if any, with the requested e-mail, replaces its record by `next` or removes it, and
 * replaces its kept receipt. Without counts the event stays pending.
 * @returns false, and writes nothing, if another process was first
 */
export async function finishKill(
  redis: RedisClient,
  epoch: number,
  { record, text }: { readonly record: KillRecord; readonly text: string },
  counts: KillCounts | null,
  next: KillRecord | null,
  receipt: StoredReceipt | null,
): Promise<boolean> {
  const { organization_id } = record
  const event = counts === null ? null : record.event
  const entry =
    event === null || counts === null ? '' : JSON.stringify(killedEntry(record, event, counts))
  const written = await runScript(
    redis,
    'finish-kill',
    [
      REDIS_KEYS.kills,
      REDIS_KEYS.activity(organization_id),
      ...outboxKeys(organization_id),
      REDIS_KEYS.killMails,
      REDIS_KEYS.killReceipts(organization_id),
      REDIS_KEYS.killReceiptIndex(organization_id),
    ],
    [
      epoch,
      text,
      next === null ? '' : JSON.stringify(next),
      organization_id,
      ACTIVITY_MAX_ENTRIES,
      entry,
      event?.notify.includes('email') ? 1 : 0,
      deliveryTag('agent_killed'),
      receipt?.kill_id ?? '',
      receipt === null ? '' : JSON.stringify(receipt),
      RECEIPTS_MAX,
    ],
  )
  return written === 1
}
