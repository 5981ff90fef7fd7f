import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { listPage } from '../resources/list-page.ts'
import { readRecord } from '../resources/records.ts'
import { ListOf, type PageQuery } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer, notFound } from '../http/outcome.ts'
import { deliveryDetail, deliveryView } from './delivery-view.ts'
import { replayEvents } from './replay-events.ts'
import { retryDelivery } from './retry-delivery.ts'
import { testWebhook } from './test-webhook.ts'
import {
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryParams,
  DeliveryView,
  ReplayAnswer,
  ReplayRange,
  WebhookParams,
} from './webhook-schemas.ts'
import type { Webhook } from './webhook.ts'

const shared = { tag: 'webhooks', organization_key: true } as const

/** The routes of the deliveries of one webhook. */
export const deliveryRoutes: readonly Route[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks/:webhook_id/test',
    role: 'operator',
    summary: 'Send a test delivery and return its outcome',
    params: WebhookParams,
    answers: { 200: DeliveryView },
    handle: testWebhook,
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks/:webhook_id/replay',
    role: 'operator',
    summary: 'Replay the stored events of a time range',
    params: WebhookParams,
    body: ReplayRange,
    answers: { 202: ReplayAnswer },
    handle: replayEvents,
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks/:webhook_id/deliveries',
    role: 'viewer',
    summary: 'List deliveries with their attempts, newest first',
    params: WebhookParams,
    query: DeliveriesQuery,
    answers: { 200: ListOf(DeliveryView) },
    handle: listDeliveries,
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks/:webhook_id/deliveries/:delivery_id',
    role: 'viewer',
    summary: 'Read a delivery with its body and, per attempt, the headers that were sent',
    params: DeliveryParams,
    answers: { 200: DeliveryDetail },
    handle: readOne,
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks/:webhook_id/deliveries/:delivery_id/retry',
    role: 'operator',
    summary: 'Retry a delivery now',
    params: DeliveryParams,
    answers: { 202: DeliveryView },
    handle: retryDelivery,
  }),
]

type ListCall = AdminCall<{ webhook_id: string }, PageQuery & { status?: DeliveryView['status'] }>

async function listDeliveries({ context, actor, params, query }: ListCall): Promise<Outcome> {
  const { redis } = context
  const { webhook_id } = params
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
}

async function readOne({
  context: { redis, ring, settings },
  actor: { organization_id, role },
  params,
}: AdminCall<{ webhook_id: string; delivery_id: string }>): Promise<Outcome> {
  const { webhook_id, delivery_id } = params
  const webhooks = REDIS_KEYS.webhooks(organization_id)
  const [stored, fields] = await Promise.all([
    readRecord<Webhook>(redis, webhooks, webhook_id),
    redis.hgetall(REDIS_KEYS.webhookDelivery(delivery_id)),
  ])
  const view = deliveryView(delivery_id, fields)
  if (stored === null || view?.webhook_id !== webhook_id) return notFound()
  const event = REDIS_KEYS.webhookEvent(`${organization_id}:${view.event_id}`)
  const payload = fields['body'] ?? (await redis.hget(event, 'body'))
  return answer(
    200,
    deliveryDetail({ ring, role, settings }, stored.record, { view, fields, payload }),
  )
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
