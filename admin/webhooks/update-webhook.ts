import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { Write } from '../../core/change/commit.ts'
import { mergePatch } from '../changes/merge-patch.ts'
import { readRecord } from '../lists/records.ts'
import { checkInput } from '../http/check-input.ts'
import { checkReadOnly } from '../http/check-read-only.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { Call } from '../http/define-route.ts'
import { checkPrecondition } from '../http/entity-tag.ts'
import { type Answer, type Outcome, type Plan, answer, invalid, notFound } from '../http/outcome.ts'
import { checkWebhookUrl } from './check-webhook-url.ts'
import { deskOf } from './webhook-desk.ts'
import { EditableWebhook } from './webhook-schemas.ts'
import { mintSecret, sealSecret } from './webhook-secret.ts'
import { webhookViews, withoutUrl } from './webhook-view.ts'
import { SECRET_OVERLAP_MS, type Webhook } from './webhook.ts'

/** These never change. */
const FIXED = ['webhook_id', 'created_at', 'has_secret']
/** These change with deliveries; a patch may repeat what was read some time ago. */
const MOVING = [
  'previous_secret_until',
  'status',
  'failing_since',
  'success_count',
  'failure_count',
  'pending_count',
  'last_triggered_at',
]
export const WEBHOOK_READ_ONLY = [...FIXED, ...MOVING]

/** A JSON merge patch. A new secret is a rotation; `secret: null` ends signing at once. */
export async function updateWebhook(call: Call<{ webhook_id: string }>): Promise<Outcome> {
  const desk = deskOf(call.context)
  const { context, actor, params, headers } = call
  const { redis, now } = context
  const webhooks = REDIS_KEYS.webhooks(actor.organization_id)
  const patch = call.body as Record<string, unknown>
  const stored = await readRecord<Webhook>(redis, webhooks, params.webhook_id)
  if (stored === null) return notFound()
  const stale = checkPrecondition(headers, stored.text)
  if (stale !== null) return stale
  const { record: webhook } = stored
  const [before = {}] = await webhookViews(redis, [webhook], now(), actor.role)
  const fixed = checkReadOnly(patch, before, FIXED)
  if (fixed.length > 0) return invalid(fixed)
  const { name, url, events } = webhook
  const changes = Object.fromEntries(
    Object.entries(patch).filter(([member]) => !WEBHOOK_READ_ONLY.includes(member)),
  )
  const merged = mergePatch({ name, url, events }, changes, { whole: [], nullable: ['secret'] })
  const checked = checkInput(EditableWebhook, merged)
  if (!checked.ok) return invalid(checked.issues)
  const fault = checkWebhookUrl(checked.value.url, desk.policy)
  if (fault !== null) return invalid([{ path: '/url', message: fault }])
  const { secret, ...rest } = checked.value
  const updated: Webhook = { ...withSecret(context, webhook, secret), ...rest }
  return planOf(context, stored.text, webhook, updated, 'webhook.update', (view) =>
    answer(200, view),
  )
}

/** The former secret signs for another day. */
export async function rotateSecret(
  call: Call<{ webhook_id: string }, unknown, { secret?: string }>,
): Promise<Outcome> {
  const { context, actor, params, body } = call
  const { redis } = context
  const webhooks = REDIS_KEYS.webhooks(actor.organization_id)
  const stored = await readRecord<Webhook>(redis, webhooks, params.webhook_id)
  if (stored === null) return notFound()
  const secret = body.secret ?? mintSecret()
  const updated = withSecret(context, stored.record, secret)
  return planOf(context, stored.text, stored.record, updated, 'webhook.rotate_secret', (view) =>
    answer(200, { ...view, secret }),
  )
}

/** `secret` undefined keeps what is there; null takes it away, and with it the former one. */
function withSecret(
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

async function planOf(
  { redis, now }: AdminContext,
  text: string,
  webhook: Webhook,
  updated: Webhook,
  action: string,
  answerOf: (view: Record<string, unknown>) => Answer,
): Promise<Plan> {
  const { organization_id, webhook_id } = webhook
  const webhooks = REDIS_KEYS.webhooks(organization_id)
  const [before = {}, after = {}] = await webhookViews(redis, [webhook, updated], now(), 'admin')
  const isNewSecret = webhook.secret !== updated.secret
  return {
    kind: 'plan',
    guards: [['HGET', webhooks, webhook_id, text]],
    writes: [
      ['HSET', webhooks, webhook_id, JSON.stringify(updated)],
      ...subscriptionWrites(webhook, updated),
    ],
    targets: [],
    audit: {
      action,
      target: webhook_id,
      before: withoutUrl(before),
      after: {
        ...withoutUrl(after),
        ...(webhook.url === updated.url ? {} : { url_changed: true }),
        ...(isNewSecret ? { secret: updated.secret === null ? 'removed' : 'changed' } : {}),
      },
    },
    answer: answerOf(after),
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
