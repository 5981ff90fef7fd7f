import type { TokenClient } from '../../core/credential/credential-type.ts'
import { type Egress, postForm } from './post-form.ts'
import { readTokenAnswer, type TokenAnswer } from './read-token-answer.ts'
import { tokenFailure } from './credential-cause.ts'

/** How a client names itself to a token endpoint (RFC 6749 §2.3.1). */
export type ClientStyle = 'basic' | 'post'

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
  const first = await ask(egress, client, style, deadline)
  if (!isUnrecognised(first) || deadline.aborted) return { answer: first, style }
  const other = style === 'basic' ? 'post' : 'basic'
  const second = await ask(egress, client, other, deadline)
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

async function ask(
  egress: Egress,
  client: TokenClient,
  style: ClientStyle,
  deadline: AbortSignal,
): Promise<TokenAnswer> {
  const { client_id, client_secret, scope } = client
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== undefined) form.set('scope', scope)
  const headers: Record<string, string> = {}
  if (style === 'basic') {
    const pair = `${formEncode(client_id)}:${formEncode(client_secret.reveal())}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else {
    form.set('client_id', client_id)
    form.set('client_secret', client_secret.reveal())
  }
  const body = form.toString()
  const posted = await postForm(egress, client.token_url, { headers, body }, deadline)
  return posted.kind === 'failed'
    ? { kind: 'failed', failure: tokenFailure(posted.cause) }
    : readTokenAnswer(posted.status, posted.body)
}

/** As in a form; the text alone, without a name. */
const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
