import type { Static } from 'typebox'
import { mintId } from '../../core/keys/api-key.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, conflict, invalid } from '../http/outcome.ts'
import type { Made } from '../resources/resource.ts'
import { issuesOfWebhook } from './issues-of-webhook.ts'
import { warningsOfWebhook } from './warnings-of-webhook.ts'
import { webhookContextOf } from './webhook-context.ts'
import type { NewWebhook } from './webhook-schemas.ts'
import { sealSecret, sealUrl } from './webhook-secret.ts'
import { type Webhook, WEBHOOKS_MAX } from './webhook.ts'

export async function makeWebhook(
  call: AdminCall<unknown, unknown, Static<typeof NewWebhook>>,
): Promise<Made<Webhook> | Refusal> {
  const { egress } = webhookContextOf(call.context)
  const { context, actor, body } = call
  const { redis, ring } = context
  const { organization_id } = actor
  const issues = issuesOfWebhook(body, egress.policy)
  if (issues.length > 0) return invalid(issues)
  if ((await redis.zcard(REDIS_KEYS.webhookIndex(organization_id))) >= WEBHOOKS_MAX)
    return conflict('too_many_webhooks', `An organization has at most ${WEBHOOKS_MAX} webhooks.`)
  const webhook_id = mintId('whk')
  const owner = { organization_id, webhook_id }
  const webhook: Webhook = {
    ...owner,
    name: body.name,
    url: sealUrl(ring, owner, body.url),
    events: body.events,
    format: body.format ?? 'standard',
    ca_certificates: body.ca_certificates ?? null,
    secret: body.secret == null ? null : sealSecret(ring, owner, body.secret),
    previous_secret: null,
    created_at: context.now().toISOString(),
  }
  const subscriptions = REDIS_KEYS.webhookSubscriptions(organization_id)
  return {
    kind: 'made',
    record: webhook,
    writes: webhook.events.map((event) => ['HINCRBY', subscriptions, event, 1] as const),
    warnings: await warningsOfWebhook(egress, body.url),
  }
}
