import type { Secret } from '../keys/secret.ts'
import { signJwt } from './sign-jwt.ts'

/** How a client with a secret names itself to a token endpoint (RFC 6749 §2.3.1). */
export type ClientStyle = 'basic' | 'post'

/** When a token is requested, and a text that is used once. */
export interface TokenMoment {
  readonly now_ms: number
  readonly nonce: string
}

export interface SignedForm {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Who gets a token, and how it is requested. */
export interface TokenClient {
  readonly token_url: string
  /** Tells the tokens of one credential from each other, such as those of two agents; empty if there is one for all. */
  readonly variant: string
  /** The form of the response. */
  readonly answer: 'oauth' | 'github' | 'sts'
  /** The agent that a token is for alone; null if it is for all that use the credential. */
  readonly agent_id: string | null
  /** Where such a token is revoked; null where the provider has nothing of the kind. */
  readonly revocation_url: string | null
  /** Whether the client has a secret, which some endpoints take in one style only. */
  readonly has_styles: boolean
  /** Rejects if a key of the credential cannot be read. */
  request(style: ClientStyle, moment: TokenMoment): Promise<SignedForm>
}

/** For whom a token is requested. */
export interface TokenUse {
  readonly agent_id: string
  readonly narrowing: TokenNarrowing | null
}

/** What a token may do at most, of what the credential may do. */
export interface TokenNarrowing {
  readonly repositories?: readonly string[]
  readonly permissions?: Readonly<Record<string, string>>
}

/** A client of RFC 6749, with a secret or with a key (`private_key_jwt`, RFC 7523 §2.2). One without both is public: it only names itself. */
export interface OAuthClient {
  readonly client_id: string
  readonly client_secret?: Secret | undefined
  readonly private_key?: Secret | undefined
  readonly key_id?: string | undefined
  /** Of the assertion; without it `token_url`. */
  readonly audience?: string | undefined
}

/** The assertion is sent at once. */
export const JWT_LIFETIME_S = 300
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Adds to a form, or to the headers, what proves who the client is. */
export async function withClient(
  client: OAuthClient,
  token_url: string,
  form: URLSearchParams,
  style: ClientStyle,
  { now_ms, nonce }: TokenMoment,
): Promise<SignedForm> {
  const { client_id, client_secret, private_key, key_id, audience } = client
  const headers: Record<string, string> = {}
  if (private_key !== undefined) {
    const iat = Math.floor(now_ms / 1000)
    const aud = audience ?? token_url
    const exp = iat + JWT_LIFETIME_S
    const claims = { iss: client_id, sub: client_id, aud, iat, exp, jti: nonce }
    form.set('client_id', client_id)
    form.set('client_assertion_type', ASSERTION_TYPE)
    form.set('client_assertion', await signJwt(private_key, claims, key_id))
  } else if (client_secret === undefined) form.set('client_id', client_id)
  else if (style === 'basic') {
    const pair = `${formEncode(client_id)}:${formEncode(client_secret.reveal())}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else {
    form.set('client_id', client_id)
    form.set('client_secret', client_secret.reveal())
  }
  return { headers, body: form.toString() }
}

/** As in a form; the text alone, without a name. */
const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
