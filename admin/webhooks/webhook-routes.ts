import { defineRoute, type Route } from '../http/define-route.ts'
import { defineResource } from '../resources/define-resource.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { editWebhook } from './edit-webhook.ts'
import { makeWebhook } from './make-webhook.ts'
import { removeWebhook } from './remove-webhook.ts'
import { rotateSecret } from './rotate-secret.ts'
import { webhookKind } from './webhook-kind.ts'
import {
  EditableWebhook,
  NewWebhook,
  RotateSecret,
  RotatedSecret,
  WEBHOOK_RESOURCE,
  WebhookParams,
  WebhookView,
} from './webhook-schemas.ts'

const access = { organization_key: true } as const

/** An organization key whose uses have `webhooks` may make all of these calls. */
export const webhookRoutes: readonly Route[] = [
  ...defineResource({
    ...webhookKind,
    tag: 'webhooks',
    path: WEBHOOK_RESOURCE.path,
    access,
    view: WebhookView,
    create: { summary: 'Create a webhook', body: NewWebhook, make: makeWebhook },
    list: { summary: 'List webhooks, newest first' },
    read: { summary: 'Read a webhook' },
    edit: {
      summary: 'Change a webhook with a JSON merge patch. A new secret is a rotation',
      methods: ['PATCH'],
      schema: EditableWebhook,
      defaults: { format: 'standard', ca_certificates: null },
      read_only: ['webhook_id', 'created_at', 'has_secret'],
      // These change with deliveries.
      moving: [
        'previous_secret_until',
        'status',
        'failing_since',
        'missed_since',
        'success_count',
        'failure_count',
        'pending_count',
        'last_triggered_at',
        'warnings',
      ],
      write_only: ['secret'],
      nullable: ['secret'],
      apply: editWebhook,
    },
    remove: { summary: 'Delete a webhook and its deliveries', plan: removeWebhook },
  }),
  defineRoute({
    ...access,
    tag: 'webhooks',
    method: 'POST',
    path: '/webhooks/:webhook_id/rotate-secret',
    role: 'admin',
    summary: 'Rotate the signing secret. The previous one stays valid for a day',
    params: WebhookParams,
    body: RotateSecret,
    answers: { 200: RotatedSecret },
    handle: rotateSecret,
  }),
  ...deliveryRoutes,
]
