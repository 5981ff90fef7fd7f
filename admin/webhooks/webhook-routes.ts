import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { listPage } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import type { AdminContext } from '../server/admin-context.ts'
import { Empty, ListOf, PageQuery, Strict } from '../server/common-schemas.ts'
import { defineRoute, type Route } from '../server/define-route.ts'
import { entityTag } from '../server/entity-tag.ts'
import { answer, notFound } from '../server/outcome.ts'
import { patchOf } from '../server/patch-of.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { type DeliveryView, deliveryView } from './delivery-view.ts'
import { replayEvents } from './replay-events.ts'
import { retryDelivery } from './retry-delivery.ts'
import { testWebhook } from './test-webhook.ts'
import { WEBHOOK_READ_ONLY, rotateSecret, updateWebhook } from './update-webhook.ts'
import { webhookDesk } from './webhook-desk.ts'
import {
  DeliveriesQuery,
  DeliveryParams,
  DeliverySchema,
  EditableWebhook,
  NewWebhook,
  ReplayAnswer,
  ReplayRange,
  RotateSecret,
  RotatedSecret,
  WebhookParams,
  WebhookView,
} from './webhook-schemas.ts'
import { webhookViews } from './webhook-view.ts'
import type { Webhook } from './webhook.ts'

const shared = { tag: 'webhooks', organization_key: true } as const

/** Contract §6. An organization key whose uses have `webhooks` makes all of these calls. */
export function webhookRoutes(context: AdminContext): readonly Route[] {
  const desk = webhookDesk(context)
  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/webhooks',
      role: 'admin',
      summary: 'Create a webhook',
      body: NewWebhook,
      answers: { 201: WebhookView },
      handle: (call) => createWebhook(desk, call),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/webhooks',
      role: 'viewer',
      summary: 'List webhooks, newest first',
      query: Strict(PageQuery),
      answers: { 200: ListOf(WebhookView) },
      handle: ({ context: { redis, now }, actor: { organization_id }, query }) =>
        listPage<Webhook>(
          {
            redis,
            index: REDIS_KEYS.webhookIndex(organization_id),
            read: (ids) => readRecords(redis, REDIS_KEYS.webhooks(organization_id), ids),
          },
          query,
          (webhooks) => webhookViews(redis, webhooks, now()),
        ),
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/webhooks/:webhook_id',
      role: 'viewer',
      summary: 'Read a webhook',
      params: WebhookParams,
      answers: { 200: WebhookView },
      handle: async ({ context: { redis, now }, actor: { organization_id }, params }) => {
        const webhooks = REDIS_KEYS.webhooks(organization_id)
        const stored = await readRecord<Webhook>(redis, webhooks, params.webhook_id)
        if (stored === null) return notFound()
        const [view] = await webhookViews(redis, [stored.record], now())
        return answer(200, view, { etag: entityTag(stored.text) })
      },
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/webhooks/:webhook_id',
      role: 'admin',
      summary: 'Change a webhook by a JSON merge patch; a new secret is a rotation',
      params: WebhookParams,
      body: patchOf(EditableWebhook, WEBHOOK_READ_ONLY, []),
      answers: { 200: WebhookView },
      handle: (call) => updateWebhook(desk, call),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/webhooks/:webhook_id',
      role: 'admin',
      summary: 'Delete a webhook with its deliveries',
      params: WebhookParams,
      answers: { 204: Empty },
      handle: (call) => deleteWebhook(desk, call),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/webhooks/:webhook_id/test',
      role: 'operator',
      summary: 'Send a test delivery now and answer how it went',
      params: WebhookParams,
      answers: { 200: DeliverySchema },
      handle: (call) => testWebhook(desk, call),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/webhooks/:webhook_id/replay',
      role: 'operator',
      summary: 'Deliver the stored events of a time range again',
      params: WebhookParams,
      body: ReplayRange,
      answers: { 202: ReplayAnswer },
      handle: (call) => replayEvents(desk, call),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/webhooks/:webhook_id/rotate-secret',
      role: 'admin',
      summary: 'Sign with a new secret; the former one signs for another day beside it',
      params: WebhookParams,
      body: RotateSecret,
      answers: { 200: RotatedSecret },
      handle: rotateSecret,
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/webhooks/:webhook_id/deliveries',
      role: 'viewer',
      summary: 'List deliveries with their attempts, newest first',
      params: WebhookParams,
      query: DeliveriesQuery,
      answers: { 200: ListOf(DeliverySchema) },
      handle: async ({ context: { redis }, actor, params: { webhook_id }, query }) => {
        if (!(await isThere(redis, actor.organization_id, webhook_id))) return notFound()
        const { status } = query
        return await listPage<DeliveryView>(
          {
            redis,
            index: REDIS_KEYS.webhookDeliveries(webhook_id),
            read: (ids) => Promise.all(ids.map((id) => readDelivery(redis, id))),
            ...(status === undefined ? {} : { matches: (delivery) => delivery.status === status }),
          },
          query,
          (deliveries) => [...deliveries],
        )
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/webhooks/:webhook_id/deliveries/:delivery_id',
      role: 'viewer',
      summary: 'Read a delivery with its attempts',
      params: DeliveryParams,
      answers: { 200: DeliverySchema },
      handle: async ({ context: { redis }, actor, params: { webhook_id, delivery_id } }) => {
        if (!(await isThere(redis, actor.organization_id, webhook_id))) return notFound()
        const delivery = await readDelivery(redis, delivery_id)
        return delivery?.webhook_id === webhook_id ? answer(200, delivery) : notFound()
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/webhooks/:webhook_id/deliveries/:delivery_id/retry',
      role: 'operator',
      summary: 'Attempt a delivery again now',
      params: DeliveryParams,
      answers: { 202: DeliverySchema },
      handle: (call) => retryDelivery(desk, call),
    }),
  ]
}

const isThere = async (
  redis: RedisClient,
  organization_id: string,
  webhook_id: string,
): Promise<boolean> => (await redis.hexists(REDIS_KEYS.webhooks(organization_id), webhook_id)) === 1

const readDelivery = async (
  redis: RedisClient,
  delivery_id: string,
): Promise<DeliveryView | null> =>
  deliveryView(delivery_id, await redis.hgetall(REDIS_KEYS.webhookDelivery(delivery_id)))
