import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readRecord } from '../lists/records.ts'
import type { Call } from '../http/define-route.ts'
import { NO_CONTENT, type Outcome, notFound } from '../http/outcome.ts'
import { deskOf } from './webhook-desk.ts'
import { webhookView, withoutUrl } from './webhook-view.ts'
import type { Webhook } from './webhook.ts'

/** Nothing is attempted from then on; the deliveries are removed some at a time. */
export async function deleteWebhook(call: Call<{ webhook_id: string }>): Promise<Outcome> {
  const desk = deskOf(call.context)
  const { context, actor, params } = call
  const { organization_id } = actor
  const webhooks = REDIS_KEYS.webhooks(organization_id)
  const stored = await readRecord<Webhook>(context.redis, webhooks, params.webhook_id)
  if (stored === null) return notFound()
  const { webhook_id, events } = stored.record
  const subscriptions = REDIS_KEYS.webhookSubscriptions(organization_id)
  return {
    kind: 'plan',
    guards: [['HGET', webhooks, webhook_id, stored.text]],
    writes: [
      ['HDEL', webhooks, webhook_id],
      ['ZREM', REDIS_KEYS.webhookIndex(organization_id), webhook_id],
      ...events.map((event): Write => ['HINCRBY', subscriptions, event, -1]),
      ['SADD', REDIS_KEYS.webhooksDeleted, `${organization_id} ${webhook_id}`],
    ],
    targets: [],
    audit: {
      action: 'webhook.delete',
      target: webhook_id,
      before: withoutUrl(webhookView(stored.record, context.now())),
      after: null,
    },
    answer: NO_CONTENT,
    afterwards: async () => void (await desk.queue.purgeDeleted()),
  }
}

/** The writes that take the webhooks of an organization along when it is deleted. */
export function deleteWebhooksOf(organization_id: string, webhook_ids: readonly string[]): Write[] {
  return [
    ['UNLINK', REDIS_KEYS.webhooks(organization_id)],
    ['UNLINK', REDIS_KEYS.webhookIndex(organization_id)],
    ['UNLINK', REDIS_KEYS.webhookSubscriptions(organization_id)],
    ...[...webhook_ids, '*'].map(
      (webhook_id): Write => [
        'SADD',
        REDIS_KEYS.webhooksDeleted,
        `${organization_id} ${webhook_id}`,
      ],
    ),
  ]
}
