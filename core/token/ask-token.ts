import { randomUUID } from 'node:crypto'
import { type ClientStyle, type OAuthClient, withClient } from '../credential/token-client.ts'
import { tokenFailure } from './credential-cause.ts'
import { type Egress, type Form, type FormAnswer, postForm } from './post-form.ts'
import { readTokenAnswer, type TokenAnswer } from './read-token-answer.ts'

export type { ClientStyle, OAuthClient }

export interface TokenRequest {
  readonly style: ClientStyle
  /** Without what authenticates the client. */
  readonly form: URLSearchParams
  readonly deadline: AbortSignal
  readonly beforeSending?: Form['beforeSending']
}

/** Sends one request to a token endpoint. Never rejects. */
export async function askToken(
  egress: Egress,
  client: OAuthClient & { readonly token_url: string },
  request: TokenRequest,
): Promise<TokenAnswer> {
  const posted = await postAsClient(egress, client.token_url, client, request)
  return posted.kind === 'failed'
    ? { kind: 'failed', failure: tokenFailure(posted.cause) }
    : readTokenAnswer(posted.status, posted.body)
}

/** Posts a form to an endpoint at which the client authenticates itself (RFC 6749 §3.2.1, RFC 7009, RFC 7662, RFC 9126). */
export async function postAsClient(
  egress: Egress,
  url: string,
  client: OAuthClient,
  { style, form, deadline, beforeSending }: TokenRequest,
): Promise<FormAnswer> {
  const moment = { now_ms: Date.now(), nonce: randomUUID() }
  const sent = await withClient(client, url, new URLSearchParams(form), style, moment).catch(
    () => null,
  )
  return sent === null
    ? { kind: 'failed', cause: 'unusable_key' }
    : postForm(egress, url, { ...sent, ...(beforeSending ? { beforeSending } : {}) }, deadline)
}
