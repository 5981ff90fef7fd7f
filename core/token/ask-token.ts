import type { Secret } from '../keys/secret.ts'
import { tokenFailure } from './credential-cause.ts'
import { type Egress, type Form, type FormAnswer, postForm } from './post-form.ts'
import { readTokenAnswer, type TokenAnswer } from './read-token-answer.ts'

/** How a client names itself to a token endpoint (RFC 6749 §2.3.1). */
export type ClientStyle = 'basic' | 'post'

/** A client without a secret is public: it only names itself. */
export interface OAuthClient {
  readonly client_id: string
  readonly client_secret?: Secret
}

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
export function postAsClient(
  egress: Egress,
  url: string,
  { client_id, client_secret }: OAuthClient,
  { style, form, deadline, beforeSending }: TokenRequest,
): Promise<FormAnswer> {
  const sent = new URLSearchParams(form)
  const headers: Record<string, string> = {}
  if (client_secret === undefined) sent.set('client_id', client_id)
  else if (style === 'basic') {
    const pair = `${formEncode(client_id)}:${formEncode(client_secret.reveal())}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else {
    sent.set('client_id', client_id)
    sent.set('client_secret', client_secret.reveal())
  }
  return postForm(
    egress,
    url,
    { headers, body: sent.toString(), ...(beforeSending ? { beforeSending } : {}) },
    deadline,
  )
}

/** As in a form; the text alone, without a name. */
const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
