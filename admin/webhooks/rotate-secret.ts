import type { AdminCall } from '../http/define-route.ts'
import { type Outcome, answer, invalid, notFound } from '../http/outcome.ts'
import { planChange } from '../resources/plan-change.ts'
import type { Params } from '../resources/resource.ts'
import { checkWebhookSecret } from './check-webhook-secret.ts'
import { changedWebhook, withSecret } from './edit-webhook.ts'
import { webhookKind } from './webhook-kind.ts'
import { mintSecret } from './webhook-secret.ts'

/** The former secret signs for another day. */
export async function rotateSecret(
  call: AdminCall<{ webhook_id: string } & Params, unknown, { secret?: string }>,
): Promise<Outcome> {
  const { context, params, body } = call
  const stored = await webhookKind.store.find(call, params.webhook_id)
  if (stored === null) return notFound()
  const secret = body.secret ?? mintSecret()
  const problem = checkWebhookSecret(secret)
  if (problem !== null) return invalid([{ path: '/secret', message: problem }])
  const edited = changedWebhook(stored.record, withSecret(context, stored.record, secret))
  const plan = await planChange(webhookKind, call, stored, edited, 'rotate_secret')
  return { ...plan, answer: answer(200, { ...(plan.answer.body as object), secret }) }
}
