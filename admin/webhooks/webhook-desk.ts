import type { AdminContext } from '../context/admin-context.ts'
import { AddressPolicy } from '../../core/egress/address-policy.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import type { Sender } from './send-delivery.ts'
import { createSender } from './start-webhooks.ts'

/** What the routes of webhooks share besides the context of every request. */
export interface WebhookDesk {
  readonly queue: DeliveryQueue
  readonly sender: Sender
  readonly policy: AddressPolicy
  /** Test deliveries under way in this process. */
  tests: number
}

export const webhookDesk = ({ redis, settings }: AdminContext): WebhookDesk => ({
  queue: new DeliveryQueue(redis, settings.webhookDelays_ms),
  sender: createSender(settings),
  policy: new AddressPolicy(settings.webhookAllowCidrs),
  tests: 0,
})
