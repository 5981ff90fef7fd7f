import type { DeliveryView } from '../../admin/webhooks/webhook-schemas.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { EventName } from '../../core/catalogue/events.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { Environment } from '../../core/settings/settings.ts'
import { activityEntry } from './activity-entry.ts'
import { type Operator, operatorAt } from './operator.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from './start-admin.ts'
import { type KitValkey, startValkey } from './start-valkey.ts'
import { until } from './until.ts'
import { type WebhookReceiver, startWebhookReceiver } from './webhook-receiver.ts'

/** A webhook as the API shows it. */
export interface ShownWebhook {
  readonly webhook_id: string
  readonly status: 'active' | 'failing'
  readonly format: 'standard' | 'slack' | 'teams'
  readonly has_secret: boolean
  readonly success_count: number
  readonly failure_count: number
  readonly pending_count: number
  readonly last_triggered_at: string | null
  readonly failing_since: string | null
  readonly missed_since: string | null
}

export interface WebhookStack extends Operator {
  readonly admin: KitAdmin
  readonly valkey: KitValkey
  readonly redis: RedisClient
  readonly receiver: WebhookReceiver
  /** Creates a webhook at a path of the receiver. */
  readonly subscribe: (path: string, members?: object) => Promise<ShownWebhook>
  /** Records an event as an edge does. */
  readonly record: (event: EventName, members?: Partial<ActivityEntry>) => Promise<ActivityEntry>
  readonly deliveriesOf: (webhook_id: string) => Promise<DeliveryView[]>
  /** Waits until no delivery of the webhook waits for an attempt. */
  readonly settled: (webhook_id: string) => Promise<ShownWebhook>
  readonly stop: () => Promise<void>
}

/** Valkey, admin and a TLS receiver on the loopback, which the admin service may reach. */
export async function startWebhookStack(
  env: Environment = {},
  names?: readonly string[],
): Promise<WebhookStack> {
  const [valkey, receiver] = await Promise.all([startValkey(), startWebhookReceiver(names)])
  const admin = await startAdmin(valkey.url, newAdminIdentity(), {
    AGW_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: receiver.certificates.ca_file,
    ...env,
  })
  const redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  const operator = operatorAt(admin.url, admin.token)
  const read = (webhook_id: string): Promise<ShownWebhook> =>
    operator.send('GET', `/webhooks/${webhook_id}`)
  return {
    ...operator,
    admin,
    valkey,
    redis,
    receiver,
    subscribe: (path, members = {}) =>
      operator.send('POST', '/webhooks', {
        name: path,
        url: receiver.url(path),
        events: ['permission_denied'],
        ...members,
      }),
    record: async (event, members = {}) => {
      const entry = activityEntry(event, members)
      await recordEntries(redis, entry.organization_id, [entry])
      return entry
    },
    deliveriesOf: async (webhook_id) => {
      const page = await operator.send('GET', `/webhooks/${webhook_id}/deliveries?limit=200`)
      return page.data
    },
    settled: (webhook_id) =>
      until(`deliveries of ${webhook_id} are settled`, async () => {
        const webhook = await read(webhook_id)
        return webhook.pending_count === 0 && webhook.success_count + webhook.failure_count > 0
          ? webhook
          : null
      }),
    stop: async () => {
      redis.disconnect()
      await admin.stop()
      await Promise.all([valkey.stop(), receiver.stop()])
    },
  }
}
