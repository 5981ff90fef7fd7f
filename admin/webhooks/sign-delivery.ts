import { createHmac } from 'node:crypto'
import type { Secret } from '../../core/keys/secret.ts'
import { standardKeyOf } from './check-webhook-secret.ts'

/**
 * The headers of one attempt: `X-Service-Signature` over the raw body with the current secret, and
 * those of the Standard Webhooks specification, whose signature lists every secret that still signs.
 * @param secrets the current one first; none where the webhook has no secret
 */
export function signDelivery(
  message: { readonly event_id: string; readonly body: Buffer; readonly timestamp_s: number },
  secrets: readonly Secret[],
): Record<string, string> {
  const { event_id, body, timestamp_s } = message
  const timestamp = String(timestamp_s)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'webhook-id': event_id,
    'webhook-timestamp': timestamp,
  }
  const [current] = secrets
  if (current === undefined) return headers
  const signed = Buffer.concat([Buffer.from(`${event_id}.${timestamp}.`), body])
  headers['x-service-signature'] = `sha256=${hmac(Buffer.from(current.reveal()), body, 'hex')}`
  headers['x-service-timestamp'] = timestamp
  headers['webhook-signature'] = secrets
    .map((secret) => `v1,${hmac(standardKey(secret.reveal()), signed, 'base64')}`)
    .join(' ')
  return headers
}

const hmac = (key: Buffer, bytes: Buffer, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(bytes).digest(encoding)

/** A malformed `whsec_` secret of an older version is its own UTF-8 bytes, as any other text. */
const standardKey = (secret: string): Buffer => standardKeyOf(secret) ?? Buffer.from(secret)
