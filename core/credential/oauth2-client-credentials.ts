import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { insecure } from './is-secure-url.ts'
import { optionalSecret, optionalShown, shown } from './member.ts'
import { withClient } from './token-client.ts'

/** RFC 6749 §4.4. A client identifier is not a secret (§2.2). */
export const oauth2ClientCredentials = defineCredential({
  type: 'oauth2_client_credentials',
  label: 'OAuth 2 client credentials',
  sends: '`Authorization: Bearer <access token>`',
  members: {
    token_url: shown('url'),
    client_id: shown('text'),
    client_secret: optionalSecret('text'),
    private_key: optionalSecret('private_key'),
    key_id: optionalShown('text'),
    audience: optionalShown('text'),
    scope: optionalShown('text'),
    revocation_url: optionalShown('url'),
  },
  check: ({ client_secret, private_key, revocation_url }) =>
    (client_secret === undefined) === (private_key === undefined)
      ? { message: 'must have either client_secret or private_key' }
      : insecure('revocation_url', revocation_url),
  owned: () => AUTHORIZATION,
  application: {
    kind: 'token',
    clientOf: (auth) => ({
      token_url: auth.token_url,
      variant: '',
      agent_id: null,
      revocation_url: auth.revocation_url ?? null,
      answer: 'oauth',
      has_styles: auth.client_secret !== undefined,
      request: (style, moment) => {
        const form = new URLSearchParams({ grant_type: 'client_credentials' })
        if (auth.scope !== undefined) form.set('scope', auth.scope)
        return withClient(auth, auth.token_url, form, style, moment)
      },
    }),
  },
})
