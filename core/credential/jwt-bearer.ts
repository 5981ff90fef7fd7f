import { AUTHORIZATION } from './authorization.ts'
import { defineCredential } from './credential-type.ts'
import { insecure } from './is-secure-url.ts'
import { optionalSecret, optionalShown, secret, shown } from './member.ts'
import { signJwt } from './sign-jwt.ts'
import { JWT_LIFETIME_S, withClient } from './token-client.ts'

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * A JWT as an authorization grant (RFC 7523 §2.1), as Google's service accounts use it. With a `client_id` the client proves who
 * it is too: by its secret, or by the same key.
 */
export const jwtBearer = defineCredential({
  type: 'jwt_bearer',
  label: 'JWT bearer grant, such as a Google service account',
  sends: '`Authorization: Bearer <access token>`',
  members: {
    token_url: shown('url'),
    issuer: shown('text'),
    private_key: secret('private_key'),
    key_id: optionalShown('text'),
    subject: optionalShown('text'),
    audience: optionalShown('text'),
    scope: optionalShown('text'),
    client_id: optionalShown('text'),
    client_secret: optionalSecret('text'),
    revocation_url: optionalShown('url'),
  },
  check: ({ client_id, client_secret, revocation_url }) =>
    client_secret !== undefined && client_id === undefined
      ? { member: 'client_secret', message: 'needs a client_id' }
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
      request: async (style, moment) => {
        const { issuer, subject, scope, audience, private_key, key_id, token_url } = auth
        const iat = Math.floor(moment.now_ms / 1000)
        const exp = iat + JWT_LIFETIME_S
        // Google reads the scope in the assertion, RFC 7521 has it in the form.
        const claims = {
          iss: issuer,
          aud: audience ?? token_url,
          iat,
          exp,
          jti: moment.nonce,
          scope,
        }
        const sub = subject ?? (token_url === GOOGLE ? undefined : issuer)
        const assertion = await signJwt(private_key, { ...claims, sub }, key_id)
        const form = new URLSearchParams({ grant_type: GRANT_TYPE, assertion })
        if (scope !== undefined) form.set('scope', scope)
        const { client_id, client_secret } = auth
        if (client_id === undefined) return { headers: {}, body: form.toString() }
        const client = client_secret === undefined ? { private_key, key_id } : { client_secret }
        const again = { ...moment, nonce: `${moment.nonce}c` }
        return withClient({ client_id, audience, ...client }, token_url, form, style, again)
      },
    }),
  },
})

/** There a subject is a user for whom the account acts. */
const GOOGLE = 'https://oauth2.googleapis.com/token'
