import type { KeyRing } from '../../core/keys/seal.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import type { ApiPlace } from '../../core/settings/console-link.ts'
import { formatBody } from './format-body.ts'
import { type Sender, sendDelivery } from './send-delivery.ts'
import { signDelivery } from './sign-delivery.ts'
import { openSecrets, openUrl, secretId } from './webhook-secret.ts'
import type { Webhook } from './webhook.ts'

/** Signs and sends one envelope with the URL and the secrets that the webhook has now. Never sends unsigned what should be signed. */
export async function attemptDelivery(
  parts: {
    readonly sender: Sender
    readonly ring: KeyRing
    readonly now: () => Date
    readonly settings: ApiPlace
  },
  webhook: Webhook,
  message: { readonly event_id: string; readonly body: Buffer },
): Promise<AttemptOutcome> {
  const now = parts.now()
  const secrets = openSecrets(parts.ring, webhook, now)
  const url = openUrl(parts.ring, webhook)
  if (secrets === null || url === null)
    return {
      is_success: false,
      status: null,
      error: 'secret_unavailable',
      duration_ms: 0,
      response_excerpt: null,
      sent: null,
    }
  const timestamp_s = Math.floor(now.getTime() / 1000)
  const { format = 'standard', ca_certificates = null } = webhook
  const body = formatBody(message.body, format, parts.settings)
  const headers = signDelivery({ event_id: message.event_id, body, timestamp_s }, secrets)
  const outcome = await sendDelivery(parts.sender, { url, headers, body, ca_certificates })
  const secret_id = webhook.secret === null ? null : secretId(webhook.secret)
  return {
    ...outcome,
    sent: { timestamp_s, secret_id, ...(format === 'standard' ? {} : { format }) },
  }
}
