import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { AdminRole } from '../../core/catalogue/model.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { warningsOf } from '../resources/warnings-of.ts'
import { checkWebhookSecret } from './check-webhook-secret.ts'
import { HIDDEN_URL, hideWebhookUrl } from './hide-webhook-url.ts'
import { openSecrets, openUrl } from './webhook-secret.ts'
import type { Webhook, WebhookState } from './webhook.ts'

const NEW: WebhookState & { readonly pending: number } = {
  success_count: 0,
  failure_count: 0,
  last_triggered_ms: null,
  failing_since_ms: null,
  missed_since_ms: null,
  pending: 0,
}

/** Webhooks as the API shows them, without secrets; below the role `admin` the URL is a secret too. */
export async function webhookViews(
  { redis, ring, now }: Pick<AdminContext, 'redis' | 'ring' | 'now'>,
  webhooks: readonly Webhook[],
  role: AdminRole,
): Promise<Record<string, unknown>[]> {
  const states = await Promise.all(webhooks.map(({ webhook_id }) => readState(redis, webhook_id)))
  const views = webhooks.map((webhook, i) => ({
    ...webhookView(
      { ...webhook, url: openUrl(ring, webhook) ?? HIDDEN_URL },
      now(),
      states[i] ?? NEW,
    ),
    ...warningsOf({ warnings: warningsOfSecret(ring, webhook, now()) }),
  }))
  return role === 'admin' ? views : views.map(withoutUrl)
}

/** Older versions stored malformed secrets. */
function warningsOfSecret(ring: KeyRing, webhook: Webhook, now: Date): readonly string[] {
  const [secret] = openSecrets(ring, { ...webhook, previous_secret: null }, now) ?? []
  const problem = secret === undefined ? null : checkWebhookSecret(secret.reveal())
  return problem === null
    ? []
    : [`Receivers cannot verify webhook-signature: the secret ${problem}. Rotate it.`]
}

/** For the activity log, which every role reads. */
export const withoutUrl = (view: Record<string, unknown>): Record<string, unknown> => ({
  ...view,
  url: hideWebhookUrl(String(view['url'])),
})

/** `url` in the clear. */
function webhookView(webhook: Webhook, now: Date, state: typeof NEW): Record<string, unknown> {
  const {
    webhook_id,
    name,
    url,
    events,
    format = 'standard',
    ca_certificates = null,
    secret,
    previous_secret,
    created_at,
  } = webhook
  const { success_count, failure_count, last_triggered_ms, pending } = state
  const { failing_since_ms, missed_since_ms } = state
  const until = previous_secret?.until ?? null
  return {
    webhook_id,
    name,
    url,
    events,
    format,
    ca_certificates,
    has_secret: secret !== null,
    previous_secret_until: until !== null && Date.parse(until) > now.getTime() ? until : null,
    status: failing_since_ms === null ? 'active' : 'failing',
    failing_since: isoTime(failing_since_ms),
    missed_since: isoTime(missed_since_ms),
    success_count,
    failure_count,
    pending_count: pending,
    last_triggered_at: isoTime(last_triggered_ms),
    created_at,
  }
}

async function readState(
  redis: RedisClient,
  webhook_id: string,
): Promise<WebhookState & { readonly pending: number }> {
  const [fields, waiting, running] = await Promise.all([
    redis.hgetall(REDIS_KEYS.webhookState(webhook_id)),
    redis.zcard(REDIS_KEYS.webhookQueue(webhook_id)),
    redis.zcard(REDIS_KEYS.webhookInFlight(webhook_id)),
  ])
  const { success_count, failure_count, last_triggered_ms } = fields
  const { failing_since_ms, missed_since_ms } = fields
  return {
    success_count: Number(success_count ?? 0),
    failure_count: Number(failure_count ?? 0),
    last_triggered_ms: last_triggered_ms === undefined ? null : Number(last_triggered_ms),
    failing_since_ms: failing_since_ms === undefined ? null : Number(failing_since_ms),
    missed_since_ms: missed_since_ms === undefined ? null : Number(missed_since_ms),
    pending: waiting + running,
  }
}

const isoTime = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString()
