import type { AdminRole } from '../../core/catalogue/model.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { ApiPlace } from '../../core/settings/console-link.ts'
import type { Attempt } from './attempt-outcome.ts'
import { ATTEMPTS_KEPT } from './delivery-queue.ts'
import { formatBody } from './format-body.ts'
import { DELIVERY_HEADERS } from './send-delivery.ts'
import { signDelivery } from './sign-delivery.ts'
import type { DeliveryDetail, DeliveryView } from './webhook-schemas.ts'
import { secretsOf } from './webhook-secret.ts'
import type { Webhook } from './webhook.ts'

type Fields = Readonly<Record<string, string>>

/** A delivery as the API lists it, from its hash in Redis; null if it does not exist. */
export function deliveryView(delivery_id: string, fields: Fields): DeliveryView | null {
  const { webhook_id, event_id, event, status, occasion = '', created_ms } = fields
  if (webhook_id === undefined || event_id === undefined || event === undefined) return null
  return {
    delivery_id,
    webhook_id,
    event_id,
    event,
    status: status as DeliveryView['status'],
    is_test: occasion === 'test',
    is_replay: occasion !== '' && occasion !== 'test',
    created_at: new Date(Number(created_ms)).toISOString(),
    attempt_count: Number(fields['attempts']),
    next_attempt_at: isoTime(fields['next_ms']),
    attempts: attemptsOf(fields).map(({ attempt, next_attempt_at }) => {
      const { sent: _, ...shown } = attempt
      return { ...shown, next_attempt_at }
    }),
  }
}

/**
 * A delivery with its body and the headers of each attempt. Signatures are computed again; a reader of the body who also has one
 * could try weak secrets, so they are for those who may change the secret.
 */
export function deliveryDetail(
  {
    ring,
    role,
    settings,
  }: { readonly ring: KeyRing; readonly role: AdminRole; readonly settings: ApiPlace },
  webhook: Webhook,
  { view, fields, payload }: { view: DeliveryView; fields: Fields; payload: string | null },
): DeliveryDetail {
  return {
    ...view,
    payload:
      payload &&
      formatBody(Buffer.from(payload), webhook.format ?? 'standard', settings).toString(),
    attempts: attemptsOf(fields).map(({ attempt, next_attempt_at }) => {
      const { sent, ...shown } = attempt
      const request_headers =
        sent == null || payload === null
          ? null
          : sentHeaders(
              { event_id: view.event_id, body: Buffer.from(payload), ...sent },
              role === 'admin' && sent.format === undefined
                ? secretsOf(ring, webhook, sent, new Date(attempt.started_at))
                : null,
            )
      return { ...shown, next_attempt_at, request_headers }
    }),
  }
}

type Message = Parameters<typeof signDelivery>[0] & { readonly secret_id: string | null }

/** @param secrets null if they are not known, or not for this reader */
function sentHeaders(
  message: Message,
  secrets: ReturnType<typeof secretsOf>,
): Record<string, string | null> {
  const signed: Record<string, string | null> = signDelivery(message, secrets ?? [])
  if (secrets === null && message.secret_id !== null) {
    signed['x-service-signature'] = null
    signed['x-service-timestamp'] = String(message.timestamp_s)
    signed['webhook-signature'] = null
  }
  return { ...DELIVERY_HEADERS, ...signed }
}

function attemptsOf(
  fields: Fields,
): readonly { readonly attempt: Attempt; readonly next_attempt_at: string | null }[] {
  const count = Number(fields['attempts'])
  const attempts = []
  for (let number = Math.max(1, count - ATTEMPTS_KEPT + 1); number <= count; number++) {
    const text = fields[`attempt ${number}`]
    if (text === undefined) continue
    attempts.push({
      attempt: JSON.parse(text) as Attempt,
      next_attempt_at: isoTime(fields[`next ${number}`]),
    })
  }
  return attempts
}

const isoTime = (text: string | undefined): string | null =>
  text === undefined ? null : new Date(Number(text)).toISOString()
