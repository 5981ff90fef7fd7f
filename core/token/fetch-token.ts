import { randomUUID } from 'node:crypto'
import type { ClientStyle, TokenClient } from '../credential/token-client.ts'
import { tokenFailure } from './credential-cause.ts'
import { type Egress, postForm } from './post-form.ts'
import { readAnswer } from './read-answer.ts'
import type { TokenAnswer } from './read-token-answer.ts'

export interface FetchOutcome {
  readonly answer: TokenAnswer
  /** The style that the endpoint accepted, or that was tried last. */
  readonly style: ClientStyle
}

/** For everything from name resolution to the last byte; a call may be waiting. */
const FETCH_LIMIT_MS = 5_000

/**
 * Fetches an access token. Every endpoint must accept a client's secret in `Authorization: Basic`, but some accept it only in the
 * form. If the client is not recognized, the other style is tried once. Never rejects.
 */
export async function fetchToken(
  egress: Egress,
  client: TokenClient,
  style: ClientStyle,
): Promise<FetchOutcome> {
  const deadline = AbortSignal.timeout(FETCH_LIMIT_MS)
  const first = await ask(egress, client, style, deadline)
  if (!client.has_styles || !isUnrecognised(first) || deadline.aborted)
    return { answer: first, style }
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
  const now_ms = Date.now()
  const request = await client.request(style, { now_ms, nonce: randomUUID() }).catch(() => null)
  if (request === null) return { kind: 'failed', failure: tokenFailure('unusable_key') }
  const posted = await postForm(egress, client.token_url, request, deadline)
  return posted.kind === 'failed'
    ? { kind: 'failed', failure: tokenFailure(posted.cause) }
    : readAnswer(client.answer, posted.status, posted.body, now_ms)
}
