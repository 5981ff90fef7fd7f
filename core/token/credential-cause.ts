/** Why a credential cannot be used; `cause` in the activity entry. docs/guides/credentials.md lists them. */
export const CREDENTIAL_CAUSES = {
  not_opened: 'The stored secret cannot be decrypted with the current encryption key.',
  reference_unavailable:
    'A secret of the credential is kept elsewhere, and AGW_SECRET_REFS does not allow the organization to name it, it cannot be read, or its value cannot be what it is used for.',
  not_a_header: 'The stored credential contains characters that are not allowed in a header.',
  doctor_not_passed:
    'AGW_DOCTOR_PASS_FILE is set, and its file does not exist: `agw doctor --envoy-admin` has not passed.',
  address_refused: 'The host of token_url is, or resolves to, an address that is not public.',
  dns_failed: 'The host of token_url cannot be resolved.',
  proxy_refused:
    'AGW_EGRESS_PROXY refused to connect to the host of token_url, or refused its user and password.',
  connection_failed: 'The token endpoint is unreachable, or closed the connection.',
  tls_failed: 'The certificate of the token endpoint is not valid, or the TLS handshake failed.',
  timeout: 'The token endpoint sent no complete response within 5 seconds.',
  answer_too_large: 'The response of the token endpoint is larger than 64 KiB.',
  redirect_refused: 'The token endpoint responded with a redirect. Redirects are not followed.',
  refused: 'The token endpoint refused the request; see token_status and token_error.',
  unreadable_answer:
    'The response of the token endpoint is not a JSON object with an access_token.',
  unusable_token:
    'The access token is empty, too long, or contains characters that are not allowed in a header.',
  other_token_type: 'The token type is missing or is not Bearer.',
  expired_token: 'The access token had already expired when it was received.',
  unusable_key: 'The private key of the credential cannot be read.',
  not_narrowable: 'A scope has a token_narrowing, and the credential is not a GitHub App.',
  narrowed_to_nothing: 'The token_narrowing of all scopes of the call together leave nothing.',
  no_placeholder: 'The call does not have {agw:token} at a place that the credential declares.',
  needs_consent: 'There is no consent to the use of this connection yet, or it has ended.',
  consent_ended:
    'The provider refused the refresh token: it was revoked, has expired, or was used before.',
  token_lost:
    'A process ended while it used the refresh token, or got no answer. The provider may have replaced it, so it is not used again.',
  store_unavailable: 'The store, which holds the tokens of connections, is unavailable.',
  busy: 'Too many tokens are being fetched by this process, or for this organization.',
} as const satisfies Record<string, string>

export type CredentialCause = keyof typeof CREDENTIAL_CAUSES

/** Why there is no access token. */
export interface TokenFailure {
  readonly cause: CredentialCause
  /** HTTP status of the response; null if there was none. */
  readonly token_status: number | null
  /** The error code of RFC 6749 that the endpoint gave; null for any other text. */
  readonly token_error: string | null
}

export const tokenFailure = (
  cause: CredentialCause,
  token_status: number | null = null,
  token_error: string | null = null,
): TokenFailure => ({ cause, token_status, token_error })
