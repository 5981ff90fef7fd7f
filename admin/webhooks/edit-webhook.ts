import type { Static } from 'typebox'
import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Refusal, invalid } from '../http/outcome.ts'
import type { Edited } from '../resources/resource.ts'
import { issuesOfWebhook } from './issues-of-webhook.ts'
import { warningsOfWebhook } from './warnings-of-webhook.ts'
import { webhookContextOf } from './webhook-context.ts'
import type { EditableWebhook } from './webhook-schemas.ts'
import { openUrl, sealSecret, sealUrl } from './webhook-secret.ts'
import { SECRET_OVERLAP_MS, type Webhook } from './webhook.ts'

/** A new secret is a rotation; `secret: null` ends signing at once. */
export async function editWebhook({
  call: { context },
  record,
  value: { secret, ...rest },
}: {
  readonly call: AdminCall
  readonly record: Webhook
  readonly value: Static<typeof EditableWebhook>
}): Promise<Edited<Webhook> | Refusal> {
  const { egress } = webhookContextOf(context)
  const issues = issuesOfWebhook({ ...rest, secret }, egress.policy)
  if (issues.length > 0) return invalid(issues)
  const { ring } = context
  const url = openUrl(ring, record) === rest.url ? record.url : sealUrl(ring, record, rest.url)
  const updated = { ...withSecret(context, record, secret), ...rest, url }
  return {
    ...changedWebhook(record, updated),
    warnings: await warningsOfWebhook(egress, rest.url),
  }
}

/** The change, with log texts for members that the log does not show. */
export const changedWebhook = (webhook: Webhook, updated: Webhook): Edited<Webhook> => ({
  kind: 'edited',
  record: updated,
  writes: subscriptionWrites(webhook, updated),
  note: {
    ...(webhook.url === updated.url ? {} : { url_changed: true }),
    ...(webhook.secret === updated.secret
      ? {}
      : { secret: updated.secret === null ? 'removed' : 'changed' }),
  },
})

/** `secret` undefined keeps the stored one; null removes it, and with it the former one. */
export function withSecret(
  { ring, now }: AdminContext,
  webhook: Webhook,
  secret: string | null | undefined,
): Webhook {
  if (secret === undefined) return webhook
  if (secret === null) return { ...webhook, secret: null, previous_secret: null }
  const until = new Date(now().getTime() + SECRET_OVERLAP_MS).toISOString()
  return {
    ...webhook,
    secret: sealSecret(ring, webhook, secret),
    previous_secret: webhook.secret === null ? null : { sealed: webhook.secret, until },
  }
}

function subscriptionWrites(webhook: Webhook, updated: Webhook): Write[] {
  const key = REDIS_KEYS.webhookSubscriptions(webhook.organization_id)
  const removed = webhook.events.filter((event) => !updated.events.includes(event))
  const added = updated.events.filter((event) => !webhook.events.includes(event))
  return [
    ...removed.map((event) => ['HINCRBY', key, event, -1] as const),
    ...added.map((event) => ['HINCRBY', key, event, 1] as const),
  ]
}
