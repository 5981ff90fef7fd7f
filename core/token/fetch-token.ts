import type { TokenClient } from '../credential/credential-type.ts'
import { askToken, type ClientStyle } from './ask-token.ts'
import type { Egress } from './post-form.ts'
import type { TokenAnswer } from './read-token-answer.ts'

export interface FetchOutcome {
  readonly answer: TokenAnswer
  /** The style that the endpoint accepted, or that was tried last. */
  readonly style: ClientStyle
}

/** For everything from name resolution to the last byte; a call may be waiting. */
const FETCH_LIMIT_MS = 5_000

/**
 * Fetches an access token by the client credentials grant (RFC 6749 §4.4). Every endpoint must accept the client's credentials
 * in `Authorization: Basic`, but some accept them only in the form. If the client is not recognized, the other style is tried
 * once. Never rejects.
 */
export async function fetchToken(
  egress: Egress,
  client: TokenClient,
  style: ClientStyle,
): Promise<FetchOutcome> {
  const deadline = AbortSignal.timeout(FETCH_LIMIT_MS)
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (client.scope !== undefined) form.set('scope', client.scope)
  const first = await askToken(egress, client, { style, form, deadline })
  if (!isUnrecognised(first) || deadline.aborted) return { answer: first, style }
  const other = style === 'basic' ? 'post' : 'basic'
  const second = await askToken(egress, client, { style: other, form, deadline })
  // The first response describes the problem better than the rejection of the second style.
  return second.kind === 'token' ? { answer: second, style: other } : { answer: first, style }
}

/** The endpoint did not recognize the client, as opposed to rejecting its request. */
const isUnrecognised = (answer: TokenAnswer): boolean => {
  if (answer.kind === 'token' || answer.failure.cause !== 'refused') return false
  const { token_status, token_error } = answer.failure
  if (token_status !== 400 && token_status !== 401) return false
  return (
    token_error === null || token_error === 'invalid_client' || token_error === 'invalid_request'
  )
}
