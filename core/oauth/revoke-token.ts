import type { Secret } from '../keys/secret.ts'
import type { RevocationResult } from '../kill/revocations.ts'
import { openForUse } from '../secret/open-for-use.ts'
import { type ClientStyle, type OAuthClient, postAsClient } from '../token/ask-token.ts'
import { type Egress, postForm } from '../token/post-form.ts'
import { type Grant, openToken } from './grant.ts'
import type { GrantOwner, RefreshParts } from './refresh-grant.ts'

/** For one request. */
export const REVOCATION_LIMIT_MS = 5_000

/** What a provider calls its tokens (RFC 7009 §2.1). */
export const TOKEN_HINTS = ['access_token', 'refresh_token'] as const

/**
 * Revokes the tokens of a grant at the provider (RFC 7009): the access token, so that it is dead at once also where the API does
 * not ask the provider about its grant, and the refresh token, with which most providers end the whole grant.
 */
export async function revokeTokens(
  parts: Pick<RefreshParts, 'egress' | 'ring' | 'references'>,
  owner: GrantOwner,
  grant: Grant,
): Promise<RevocationResult> {
  const { egress, ring } = parts
  const auth = await openForUse(parts, owner)
  if (typeof auth === 'string' || auth.type !== 'oauth2_authorization_code') return 'failed'
  if (auth.revocation_url === undefined) return 'unsupported'
  const url = auth.revocation_url
  const outcomes = await Promise.all(
    TOKEN_HINTS.filter((hint) => grant[hint] !== null).map(
      async (hint): Promise<RevocationResult> => {
        const token = openToken(ring, owner, grant, hint)
        return token === null
          ? 'failed'
          : revokeToken(egress, auth, { url, token, hint, style: grant.style })
      },
    ),
  )
  return outcomes.includes('failed')
    ? 'failed'
    : outcomes.includes('revoked')
      ? 'revoked'
      : 'unsupported'
}

/** One request to the revocation endpoint of an OAuth provider. A client that has no id, as Google's service accounts, sends the token alone. */
export async function revokeToken(
  egress: Egress,
  auth: Partial<OAuthClient>,
  {
    url,
    token,
    hint,
    style,
  }: {
    readonly url: string
    readonly token: Secret
    readonly hint: (typeof TOKEN_HINTS)[number]
    readonly style: ClientStyle
  },
): Promise<RevocationResult> {
  const form = new URLSearchParams({ token: token.reveal(), token_type_hint: hint })
  const deadline = AbortSignal.timeout(REVOCATION_LIMIT_MS)
  const { client_id, client_secret } = auth
  // A JWT bearer grant that has a secret signs with its key, and proves with the secret who the client is.
  const client =
    client_id === undefined
      ? null
      : { ...auth, client_id, ...(client_secret === undefined ? {} : { private_key: undefined }) }
  const answer =
    client === null
      ? await postForm(egress, url, { headers: {}, body: form.toString() }, deadline)
      : await postAsClient(egress, url, client, { style, form, deadline })
  if (answer.kind === 'failed') return 'failed'
  if (answer.status === 200) return 'revoked'
  return answer.body.includes('unsupported_token_type') ? 'unsupported' : 'failed'
}
