import { type Static, Type } from 'typebox'
import { DELIVERED_EVENTS } from '../../core/catalogue/events.ts'
import { NO_CONTROLS, UNCLEAN } from '../../core/credential/text-forms.ts'
import {
  Id,
  Name,
  Nullable,
  PageQuery,
  Strict,
  TimeText,
  Timestamp,
  Warnings,
} from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import { URL_LENGTH_LIMIT } from './check-webhook-url.ts'
import { WEBHOOK_FORMATS } from './webhook-format.ts'

/** Its name and path, for its routes and for `agw apply`. */
export const WEBHOOK_RESOURCE = { name: 'webhook', path: '/webhooks', id: 'webhook_id' } as const

const Url = Type.String({
  minLength: 1,
  maxLength: URL_LENGTH_LIMIT,
  description:
    'An https URL at a public address. The address is checked again at every connection.',
})
const Events = Type.Array(Type.Enum([...DELIVERED_EVENTS]), {
  minItems: 1,
  maxItems: DELIVERED_EVENTS.length,
  uniqueItems: true,
})
const Format = Type.Enum([...WEBHOOK_FORMATS], {
  description: '`slack` (Block Kit) and `teams` (an Adaptive Card) are messages for people',
})
/** As of an integration; a certificate in PEM has about 2 kB. */
const CA_LENGTH_LIMIT = 32_768
const Authorities = Nullable(
  Type.String({
    minLength: 1,
    maxLength: CA_LENGTH_LIMIT,
    description: 'PEM. Only these CAs are trusted for this webhook. Default: the public CAs',
  }),
)
const SecretText = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: `^[^${UNCLEAN}]+$`,
  [PATTERN_MESSAGE]: NO_CONTROLS,
  description: 'Signs deliveries. Write-only.',
})

export const NewWebhook = Strict({
  name: Name,
  url: Url,
  secret: Type.Optional(Nullable(SecretText)),
  events: Events,
  format: Type.Optional(Format),
  ca_certificates: Type.Optional(Authorities),
})

export const EditableWebhook = Strict({
  name: Name,
  url: Url,
  secret: Type.Optional(Nullable(SecretText)),
  events: Events,
  format: Format,
  ca_certificates: Authorities,
})

export const WebhookView = Strict({
  webhook_id: Type.String(),
  name: Type.String(),
  url: Type.String({ description: 'Roles other than admin see only its origin and /***' }),
  events: Type.Array(Type.Enum([...DELIVERED_EVENTS])),
  format: Format,
  ca_certificates: Authorities,
  has_secret: Type.Boolean(),
  previous_secret_until: Nullable(Timestamp),
  status: Type.Enum(['active', 'failing']),
  failing_since: Nullable(Timestamp),
  missed_since: Nullable(
    Type.String({
      format: 'date-time',
      description: 'Time of the oldest event that was given up and has not been replayed since',
    }),
  ),
  success_count: Type.Integer({ description: 'Attempts that received a 2xx response in time' }),
  failure_count: Type.Integer({ description: 'All other attempts' }),
  pending_count: Type.Integer({ description: 'Deliveries waiting for an attempt' }),
  last_triggered_at: Nullable(Timestamp),
  created_at: Timestamp,
  warnings: Type.Optional(Warnings),
})

const AttemptView = Strict({
  number: Type.Integer(),
  started_at: Timestamp,
  is_success: Type.Boolean(),
  status: Nullable(Type.Integer()),
  error: Nullable(Type.String({ description: 'Error class; docs/guides/webhooks.md lists them' })),
  duration_ms: Type.Integer(),
  response_excerpt: Nullable(Type.String()),
  next_attempt_at: Nullable(Timestamp),
})

export type DeliveryView = Static<typeof DeliveryView>
export const DeliveryView = Strict({
  delivery_id: Type.String(),
  webhook_id: Type.String(),
  event_id: Type.String(),
  event: Type.String(),
  status: Type.Enum(['pending', 'delivered', 'failed']),
  is_test: Type.Boolean(),
  is_replay: Type.Boolean(),
  created_at: Timestamp,
  attempt_count: Type.Integer(),
  next_attempt_at: Nullable(Timestamp),
  attempts: Type.Array(AttemptView),
})

const SentHeaders = Type.Record(Type.String(), Nullable(Type.String()), {
  description:
    'null for a signature that is not shown: the secret has changed since, or the role is below admin',
})

export type DeliveryDetail = Static<typeof DeliveryDetail>
export const DeliveryDetail = Strict({
  ...DeliveryView.properties,
  payload: Nullable(
    Type.String({ description: 'The body as it is sent; null when no longer stored' }),
  ),
  attempts: Type.Array(
    Strict({ ...AttemptView.properties, request_headers: Nullable(SentHeaders) }),
  ),
})

export const WebhookParams = Strict({ webhook_id: Id('webhook_id') })
export const DeliveryParams = Strict({
  webhook_id: Id('webhook_id'),
  delivery_id: Id('delivery_id'),
})

export const DeliveriesQuery = Strict({
  status: Type.Optional(Type.Enum(['pending', 'delivered', 'failed'])),
  ...PageQuery,
})

export const ReplayRange = Strict({ from: TimeText('Not before'), to: TimeText('Not after') })
export const ReplayAnswer = Strict({
  deliveries_created: Type.Integer(),
  next_from: Nullable(Timestamp),
})

export const RotateSecret = Strict({ secret: Type.Optional(SecretText) })
export const RotatedSecret = Strict({
  ...WebhookView.properties,
  secret: Type.String({ description: 'The new secret. It is shown only once.' }),
})
