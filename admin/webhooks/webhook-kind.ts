import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { ResourceKind } from '../resources/resource.ts'
import { storeIn } from '../resources/store-in.ts'
import { WEBHOOK_RESOURCE } from './webhook-schemas.ts'
import { webhookViews, withoutUrl } from './webhook-view.ts'
import type { Webhook } from './webhook.ts'

/** Edges do not cache webhooks, and the activity log does not show the URL, which may contain a secret. */
export const webhookKind: ResourceKind<Webhook> = {
  name: WEBHOOK_RESOURCE.name,
  id: WEBHOOK_RESOURCE.id,
  store: storeIn<Webhook>(REDIS_KEYS.webhooks, REDIS_KEYS.webhookIndex),
  show: ({ context, actor }, webhooks) => webhookViews(context, webhooks, actor.role),
  audited: withoutUrl,
  targets: () => [],
}
