import type { OpenedFor } from '../credential/catalogue.ts'
import type { KeyRing } from '../keys/seal.ts'
import { openAuth } from '../store/credential-binding.ts'
import { postAsClient } from '../token/ask-token.ts'
import type { Egress } from '../token/post-form.ts'
import { type Grant, openToken } from './grant.ts'
import type { GrantOwner } from './refresh-grant.ts'

/** `unsupported`: the provider has no endpoint for it. */
export type Revocation = 'revoked' | 'failed' | 'unsupported'

/** For one request. */
const LIMIT_MS = 5_000

/**
 * Revokes the tokens of a grant at the provider (RFC 7009): the access token, so that it is dead at once also where the API does
 * not ask the provider about its grant, and the refresh token, with which most providers end the whole grant.
 */
export async function revokeTokens(
  egress: Egress,
  ring: KeyRing,
  owner: GrantOwner,
  grant: Grant,
): Promise<Revocation> {
  const auth = openAuth(ring, owner)
  if (auth?.type !== 'oauth2_authorization_code') return 'failed'
  if (auth.revocation_url === undefined) return 'unsupported'
  const url = auth.revocation_url
  const outcomes = await Promise.all(
    (['access_token', 'refresh_token'] as const).map((member) =>
      revoke(egress, url, auth, grant, openToken(ring, owner, grant, member)?.reveal(), member),
    ),
  )
  return outcomes.includes('failed')
    ? 'failed'
    : outcomes.includes('revoked')
      ? 'revoked'
      : 'unsupported'
}

async function revoke(
  egress: Egress,
  url: string,
  auth: OpenedFor<'connection'>,
  { style, ...grant }: Grant,
  token: string | undefined,
  token_type_hint: 'access_token' | 'refresh_token',
): Promise<Revocation | null> {
  if (token === undefined) return grant[token_type_hint] === null ? null : 'failed'
  const form = new URLSearchParams({ token, token_type_hint })
  const deadline = AbortSignal.timeout(LIMIT_MS)
  const answer = await postAsClient(egress, url, auth, { style, form, deadline })
  if (answer.kind === 'failed') return 'failed'
  if (answer.status === 200) return 'revoked'
  return answer.body.includes('unsupported_token_type') ? 'unsupported' : 'failed'
}
