/** Why a credential cannot be used; `cause` in the activity entry. The catalogue of docs/guides/credentials.md. */
export const CREDENTIAL_CAUSES = {
  not_opened: 'The stored secret cannot be opened with the present encryption key.',
  not_a_header: 'The stored credential holds what cannot stand in a header.',
  address_refused: 'The host of token_url is, or resolves to, an address that is not public.',
  dns_failed: 'The host of token_url has no address.',
  connection_failed: 'The token endpoint cannot be reached, or closed the connection.',
  tls_failed: 'The certificate of the token endpoint is not valid, or the TLS handshake failed.',
  timeout: 'The token endpoint gave no complete answer within 5 seconds.',
  answer_too_large: 'The answer of the token endpoint is larger than 64 KiB.',
  redirect_refused: 'The token endpoint answered with a redirect, which is never followed.',
  refused: 'The token endpoint refused; token_status and token_error say how.',
  unreadable_answer: 'The answer of the token endpoint is no JSON object with an access_token.',
  unusable_token: 'The access token holds what cannot stand in a header, is empty or too long.',
  other_token_type: 'The token type is missing, or another than Bearer.',
  expired_token: 'The access token had expired when it came.',
  busy: 'Too many tokens are being fetched by this process, or for this organization.',
} as const satisfies Record<string, string>

export type CredentialCause = keyof typeof CREDENTIAL_CAUSES

/** Why there is no access token. */
export interface TokenFailure {
  readonly cause: CredentialCause
  /** Of the answer; null where none came. */
  readonly token_status: number | null
  /** The error code of RFC 6749 that the endpoint gave; null for any other text. */
  readonly token_error: string | null
}

export const tokenFailure = (
  cause: CredentialCause,
  token_status: number | null = null,
  token_error: string | null = null,
): TokenFailure => ({ cause, token_status, token_error })
