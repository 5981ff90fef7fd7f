import type { Secret } from '../keys/secret.ts'
import { type ClientStyle, type OAuthClient, postAsClient } from '../token/ask-token.ts'
import type { Egress } from '../token/post-form.ts'

const LIMIT_MS = 5_000

/** Asks the provider whether a refresh token is still good (RFC 7662), without using it. Null if it does not say. */
export async function isActiveToken(
  egress: Egress,
  client: OAuthClient,
  introspection_url: string,
  token: Secret,
  style: ClientStyle,
): Promise<boolean | null> {
  const form = new URLSearchParams({ token: token.reveal(), token_type_hint: 'refresh_token' })
  const deadline = AbortSignal.timeout(LIMIT_MS)
  const answer = await postAsClient(egress, introspection_url, client, { style, form, deadline })
  if (answer.kind === 'failed' || answer.status >= 500 || answer.status === 429) return null
  if (answer.status !== 200) return false
  try {
    const { active } = JSON.parse(answer.body.toString()) as { readonly active?: unknown }
    return active === true
  } catch {
    return false
  }
}
