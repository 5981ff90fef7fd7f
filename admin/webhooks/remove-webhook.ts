import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import type { Removed } from '../resources/resource.ts'
import { webhookContextOf } from './webhook-context.ts'
import type { Webhook } from './webhook.ts'

/** Nothing is attempted from then on; the deliveries are removed some at a time. */
export function removeWebhook(
  { context }: AdminCall,
  { organization_id, webhook_id, events }: Webhook,
): Removed<Webhook> {
  const subscriptions = REDIS_KEYS.webhookSubscriptions(organization_id)
  return {
    kind: 'removed',
    writes: [
      ...events.map((event): Write => ['HINCRBY', subscriptions, event, -1]),
      ['SADD', REDIS_KEYS.webhooksDeleted, `${organization_id} ${webhook_id}`],
    ],
    afterwards: async () => void (await webhookContextOf(context).queue.purgeDeleted()),
  }
}
