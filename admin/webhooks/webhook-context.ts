import type { AdminContext } from '../context/admin-context.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import type { EgressRules } from '../../core/egress/egress-warnings.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import type { Sender } from './send-delivery.ts'
import { createSender } from './start-webhooks.ts'

/** What the webhook routes share in addition to the context of every request. */
export interface WebhookContext {
  readonly queue: DeliveryQueue
  readonly sender: Sender
  readonly egress: EgressRules
  /** Test deliveries in progress in this process. */
  tests: number
}

const contexts = new WeakMap<AdminContext, WebhookContext>()

/** One per context, created on first use. */
export function webhookContextOf(context: AdminContext): WebhookContext {
  const known = contexts.get(context)
  if (known !== undefined) return known
  const { redis, settings } = context
  const made: WebhookContext = {
    queue: new DeliveryQueue(redis, settings.webhookDelays_ms),
    sender: createSender(settings),
    egress: {
      policy: new AddressPolicy(settings.webhookAllowCidrs),
      setting: 'AGW_WEBHOOK_ALLOW_CIDRS',
      resolve: context.egress.resolve,
      allows_private: settings.webhookAllowCidrs.length > 0,
      exempt_origin: null,
    },
    tests: 0,
  }
  contexts.set(context, made)
  return made
}
