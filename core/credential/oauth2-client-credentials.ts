import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { optionalShown, secret, shown } from './member.ts'

/** RFC 6749 §4.4. A client identifier is not a secret (§2.2). */
export const oauth2ClientCredentials = defineCredential({
  type: 'oauth2_client_credentials',
  label: 'OAuth 2 client credentials',
  sends: '`Authorization: Bearer <access token>`',
  members: {
    token_url: shown('url'),
    client_id: shown('text'),
    client_secret: secret('text'),
    scope: optionalShown('text'),
  },
  owned: () => AUTHORIZATION,
  application: { kind: 'token', clientOf: (auth) => auth },
})
