import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readRecord } from '../resources/records.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Issue, type Outcome, answer, audited, invalid, notFound } from '../http/outcome.ts'
import { readTime, TIME_MESSAGE } from '../http/read-time.ts'
import { webhookContextOf } from './webhook-context.ts'
import type { Webhook } from './webhook.ts'

/** Delivers the stored events of a time range again, if the webhook still subscribes to them. */
export async function replayEvents(
  call: AdminCall<{ webhook_id: string }, unknown, { from: string; to: string }>,
): Promise<Outcome> {
  const shared = webhookContextOf(call.context)
  const { context, actor, params, body } = call
  const webhooks = REDIS_KEYS.webhooks(actor.organization_id)
  const stored = await readRecord<Webhook>(context.redis, webhooks, params.webhook_id)
  if (stored === null) return notFound()
  const from_ms = readTime(body.from)
  const to_ms = readTime(body.to)
  const issues: Issue[] = []
  if (from_ms === null) issues.push({ path: '/from', message: TIME_MESSAGE })
  if (to_ms === null) issues.push({ path: '/to', message: TIME_MESSAGE })
  if (from_ms !== null && to_ms !== null && from_ms > to_ms)
    issues.push({ path: '/to', message: 'must not be before from' })
  if (issues.length > 0 || from_ms === null || to_ms === null) return invalid(issues)
  const { created, next_from_ms } = await shared.queue.replay(stored.record, { from_ms, to_ms })
  const next_from = next_from_ms === null ? null : new Date(next_from_ms).toISOString()
  return audited(
    {
      action: 'webhook.replay',
      target: stored.record.webhook_id,
      before: null,
      after: { from: body.from, to: body.to, deliveries_created: created, next_from },
    },
    answer(202, { deliveries_created: created, next_from }),
  )
}
