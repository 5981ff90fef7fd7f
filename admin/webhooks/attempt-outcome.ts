import type { WebhookFormat } from './webhook-format.ts'

/** Why an attempt failed, other than by the status of the answer. The catalogue of docs/guides/webhooks.md. */
export const ATTEMPT_ERRORS = {
  http_status: 'The receiver responded with a status other than 2xx.',
  redirect_refused: 'The receiver responded with a redirect. Redirects are not followed.',
  timeout: 'The receiver sent no complete response within 10 seconds.',
  dns_failed: 'The host name cannot be resolved.',
  proxy_refused:
    'AGW_EGRESS_PROXY refused to connect to the host, or refused its user and password.',
  address_refused: 'The host is, or resolves to, an address that is not public.',
  connection_refused: 'The connection was refused.',
  connection_reset: 'The connection was closed before the response was complete.',
  connection_failed: 'The address is unreachable.',
  tls_failed: 'The certificate is not valid for the host, or the TLS handshake failed.',
  invalid_response: 'The response is not HTTP, or its headers are too large.',
  secret_unavailable:
    'The stored secret or URL cannot be decrypted with the current encryption key. Nothing was sent.',
} as const
export type AttemptError = keyof typeof ATTEMPT_ERRORS

/** What came of one attempt. */
export interface AttemptOutcome {
  readonly is_success: boolean
  readonly status: number | null
  readonly error: AttemptError | null
  readonly duration_ms: number
  /** The beginning of the answer's body, for people; null where there was none or it is not text. */
  readonly response_excerpt: string | null
  /** What the headers of the request follow from; null where nothing was sent, and in attempts of older versions. */
  readonly sent: SentRequest | null
}

/** Signatures are not stored: they would let a reader of the store try weak secrets. They are made again for who may see them. */
export interface SentRequest {
  readonly timestamp_s: number
  /** `secretId` of the secret that signed; null if none did. */
  readonly secret_id: string | null
  /** Absent: `standard`. Signatures of other formats are not made again, since the message may read otherwise since. */
  readonly format?: WebhookFormat
}

/** An attempt as it is kept. */
export interface Attempt extends AttemptOutcome {
  readonly number: number
  readonly started_at: string
}
