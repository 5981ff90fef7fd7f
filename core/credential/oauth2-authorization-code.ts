import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { isSecureUrl } from './is-secure-url.ts'
import { optionalSecret, optionalShown, shown } from './member.ts'

const URLS = [
  'authorization_url',
  'token_url',
  'revocation_url',
  'introspection_url',
  'pushed_authorization_url',
] as const

/**
 * RFC 6749 §4.1 with PKCE. The endpoints are pinned here, whatever the provider's metadata says later: the client secret and the
 * refresh token go to these alone. The tokens of the grant are not members: they change without an operator (core/oauth/).
 */
export const oauth2AuthorizationCode = defineCredential({
  type: 'oauth2_authorization_code',
  label: 'OAuth 2 with consent',
  sends: '`Authorization: Bearer <access token>`',
  members: {
    authorization_url: shown('url'),
    token_url: shown('url'),
    revocation_url: optionalShown('url'),
    introspection_url: optionalShown('url'),
    pushed_authorization_url: optionalShown('url'),
    client_id: shown('text'),
    client_secret: optionalSecret('text'),
    /** In place of a secret (`private_key_jwt`). */
    private_key: optionalSecret('private_key'),
    key_id: optionalShown('text'),
    audience: optionalShown('text'),
    scope: optionalShown('text'),
    /** The API that the tokens are for (RFC 8707). */
    resource: optionalShown('text'),
    /** What `iss` in the answer of the provider has to be (RFC 9207). */
    issuer: optionalShown('text'),
    /** `required` if the provider always sends `iss`. */
    iss_parameter: optionalShown('word', ['required']),
    /** For how many seconds the provider accepts a refresh token again that it has replaced. */
    refresh_reuse_s: optionalShown('word'),
  },
  check: (auth) => {
    const { iss_parameter, issuer, refresh_reuse_s } = auth
    const insecure = URLS.find((member) => !isSecureUrl(auth[member] ?? auth.token_url))
    if (insecure !== undefined) return { member: insecure, message: 'must be an https URL' }
    if (iss_parameter !== undefined && issuer === undefined)
      return { member: 'issuer', message: 'is needed for iss_parameter' }
    return refresh_reuse_s === undefined || /^\d{1,5}$/.test(refresh_reuse_s)
      ? null
      : { member: 'refresh_reuse_s', message: 'must be a number of seconds, at most 99999' }
  },
  owned: () => AUTHORIZATION,
  application: { kind: 'connection' },
})
