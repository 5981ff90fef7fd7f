/** Why an attempt failed, other than by the status of the answer. The catalogue of docs/guides/webhooks.md. */
export const ATTEMPT_ERRORS = {
  http_status: 'The receiver answered with another status than 2xx.',
  redirect_refused: 'The receiver answered with a redirect, which is never followed.',
  timeout: 'No complete answer came within 10 seconds.',
  dns_failed: 'The host name has no address.',
  address_refused: 'The host is, or resolves to, an address that is not public.',
  connection_refused: 'Nothing listens at the address.',
  connection_reset: 'The connection was closed before the answer was complete.',
  connection_failed: 'The address cannot be reached.',
  tls_failed: 'The certificate is not valid for the host, or the TLS handshake failed.',
  invalid_response: 'The answer is not HTTP, or its headers are too large.',
  secret_unavailable:
    'The stored secret cannot be opened with the present encryption key; nothing was sent.',
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
}

/** An attempt as it is kept. */
export interface Attempt extends AttemptOutcome {
  readonly number: number
  readonly started_at: string
}
