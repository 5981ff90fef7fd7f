import { mintId } from '../../core/keys/api-key.ts'
import type { Envelope } from '../../core/change/build-envelope.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { readRecord } from '../resources/records.ts'
import type { AdminCall } from '../http/define-route.ts'
import { type Outcome, answer, audited, conflict, notFound } from '../http/outcome.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import type { Attempt } from './attempt-outcome.ts'
import type { DeliveryView } from './webhook-schemas.ts'
import { webhookContextOf, type WebhookContext } from './webhook-context.ts'
import type { Webhook } from './webhook.ts'

/** Each keeps a request open for the duration of an attempt. */
const TESTS_MAX = 16

/** Sends one `test` envelope now and returns the result. It is not retried or counted. */
export async function testWebhook(call: AdminCall<{ webhook_id: string }>): Promise<Outcome> {
  const shared = webhookContextOf(call.context)
  const { context, actor, params } = call
  const webhooks = REDIS_KEYS.webhooks(actor.organization_id)
  const stored = await readRecord<Webhook>(context.redis, webhooks, params.webhook_id)
  if (stored === null) return notFound()
  if (shared.tests >= TESTS_MAX)
    return conflict('too_many_tests', 'Too many tests are in progress. Try again in a few seconds.')
  shared.tests++
  try {
    return await test(shared, call, stored.record)
  } finally {
    shared.tests--
  }
}

async function test(shared: WebhookContext, call: AdminCall, webhook: Webhook): Promise<Outcome> {
  const { context, actor } = call
  const { ring, now, settings } = context
  const { organization_id, webhook_id, name } = webhook
  const started_at = now().toISOString()
  const envelope: Envelope = {
    id: mintId('evt'),
    event: 'test',
    timestamp: started_at,
    organization_id,
    agent_id: null,
    agent_name: null,
    data: { message: `Test delivery of the webhook "${name}".` },
  }
  const body = Buffer.from(JSON.stringify(envelope))
  const outcome = await attemptDelivery({ sender: shared.sender, ring, now, settings }, webhook, {
    event_id: envelope.id,
    body,
  })
  const attempt: Attempt = { number: 1, started_at, ...outcome }
  const delivery_id = mintId('dlv')
  const isThere = await shared.queue.noteTest(
    { delivery_id, organization_id, webhook_id, event_id: envelope.id, body: body.toString() },
    attempt,
  )
  if (!isThere) return notFound()
  const { sent: _, ...shown } = attempt
  const view: DeliveryView = {
    delivery_id,
    webhook_id,
    event_id: envelope.id,
    event: 'test',
    status: outcome.is_success ? 'delivered' : 'failed',
    is_test: true,
    is_replay: false,
    created_at: started_at,
    attempt_count: 1,
    next_attempt_at: null,
    attempts: [{ ...shown, next_attempt_at: null }],
  }
  return audited(
    {
      action: 'webhook.test',
      target: webhook_id,
      before: null,
      after: { delivery_id, status: view.status, asked_by: actor.email },
    },
    answer(200, view),
  )
}
