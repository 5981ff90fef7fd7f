import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { listPage, type PageQuery as PageRequest } from '../lists/list-page.ts'
import { readRecord, readRecords } from '../lists/records.ts'
import { Empty, ListOf, PageQuery, Strict } from '../http/common-schemas.ts'
import { type Call, defineRoute, type Route } from '../http/define-route.ts'
import { entityTag } from '../http/entity-tag.ts'
import { type Outcome, answer, notFound } from '../http/outcome.ts'
import { patchOf } from '../http/patch-of.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { WEBHOOK_READ_ONLY, rotateSecret, updateWebhook } from './update-webhook.ts'
import {
  EditableWebhook,
  NewWebhook,
  RotateSecret,
  RotatedSecret,
  WebhookParams,
  WebhookView,
} from './webhook-schemas.ts'
import { webhookViews } from './webhook-view.ts'
import type { Webhook } from './webhook.ts'

const shared = { tag: 'webhooks', organization_key: true } as const

/** An organization key whose uses have `webhooks` may make all of these calls. */
export const webhookRoutes: readonly Route[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/webhooks',
    role: 'admin',
    summary: 'Create a webhook',
    body: NewWebhook,
    answers: { 201: WebhookView },
    handle: createWebhook,
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks',
    role: 'viewer',
    summary: 'List webhooks, newest first',
    query: Strict(PageQuery),
    answers: { 200: ListOf(WebhookView) },
    handle: listWebhooks,
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/webhooks/:webhook_id',
    role: 'viewer',
    summary: 'Read a webhook',
    params: WebhookParams,
    answers: { 200: WebhookView },
    handle: readWebhook,
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
    handle: updateWebhook,
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/webhooks/:webhook_id',
    role: 'admin',
    summary: 'Delete a webhook with its deliveries',
    params: WebhookParams,
    answers: { 204: Empty },
    handle: deleteWebhook,
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
  ...deliveryRoutes,
]

function listWebhooks({
  context: { redis, now },
  actor: { organization_id, role },
  query,
}: Call<unknown, PageRequest>): Promise<Outcome> {
  return listPage<Webhook>(
    {
      redis,
      index: REDIS_KEYS.webhookIndex(organization_id),
      read: (ids) => readRecords(redis, REDIS_KEYS.webhooks(organization_id), ids),
    },
    query,
    (webhooks) => webhookViews(redis, webhooks, now(), role),
  )
}

async function readWebhook({
  context: { redis, now },
  actor: { organization_id, role },
  params,
}: Call<{ webhook_id: string }>): Promise<Outcome> {
  const webhooks = REDIS_KEYS.webhooks(organization_id)
  const stored = await readRecord<Webhook>(redis, webhooks, params.webhook_id)
  if (stored === null) return notFound()
  const [view] = await webhookViews(redis, [stored.record], now(), role)
  return answer(200, view, { etag: entityTag(stored.text) })
}
