import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Outcome, answer, audited, conflict, notFound } from '../http/outcome.ts'
import { deliveryView } from './delivery-view.ts'
import { webhookContextOf } from './webhook-context.ts'

const REFUSALS = {
  in_flight: 'This delivery is being attempted. Wait for its outcome first.',
  test: 'A test delivery cannot be retried. Send another test.',
  event_gone: 'The event of this delivery is no longer stored.',
} as const

/** Makes a delivery due now; an ended one gets one more attempt. */
export async function retryDelivery(
  call: AdminCall<{ webhook_id: string; delivery_id: string }>,
): Promise<Outcome> {
  const shared = webhookContextOf(call.context)
  const { context, actor, params } = call
  const { webhook_id, delivery_id } = params
  const answered = await shared.queue.retry(actor.organization_id, webhook_id, delivery_id)
  if (answered === 'not_found') return notFound()
  if (answered !== 'queued') return conflict(answered, REFUSALS[answered])
  const fields = await context.redis.hgetall(REDIS_KEYS.webhookDelivery(delivery_id))
  const view = deliveryView(delivery_id, fields)
  if (view === null) return notFound()
  return audited(
    { action: 'webhook.retry', target: webhook_id, before: null, after: { delivery_id } },
    answer(202, view),
  )
}
