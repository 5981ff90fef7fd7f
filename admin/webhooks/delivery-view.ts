import type { Attempt } from './attempt-outcome.ts'
import { ATTEMPTS_KEPT } from './delivery-queue.ts'
import type { DeliveryView } from './webhook-schemas.ts'

/** A delivery as the API shows it, from its hash in Redis; null if it does not exist. */
export function deliveryView(
  delivery_id: string,
  fields: Readonly<Record<string, string>>,
): DeliveryView | null {
  const { webhook_id, event_id, event, status, occasion = '', created_ms } = fields
  if (webhook_id === undefined || event_id === undefined || event === undefined) return null
  const count = Number(fields['attempts'])
  const attempts = []
  for (let number = Math.max(1, count - ATTEMPTS_KEPT + 1); number <= count; number++) {
    const text = fields[`attempt ${number}`]
    if (text === undefined) continue
    const attempt = JSON.parse(text) as Attempt
    attempts.push({ ...attempt, next_attempt_at: isoTime(fields[`next ${number}`]) })
  }
  return {
    delivery_id,
    webhook_id,
    event_id,
    event,
    status: status as DeliveryView['status'],
    is_test: occasion === 'test',
    is_replay: occasion !== '' && occasion !== 'test',
    created_at: new Date(Number(created_ms)).toISOString(),
    attempt_count: count,
    next_attempt_at: isoTime(fields['next_ms']),
    attempts,
  }
}

const isoTime = (text: string | undefined): string | null =>
  text === undefined ? null : new Date(Number(text)).toISOString()
