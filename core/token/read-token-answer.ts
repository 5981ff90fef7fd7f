import { Secret } from '../keys/secret.ts'
import { type TokenFailure, tokenFailure } from './credential-cause.ts'

export interface FetchedToken {
  readonly token: Secret
  /** Lifetime of the token, counted from the request. */
  readonly lifetime_s: number
  /** Of a token that was requested earlier. */
  readonly age_ms?: number
  /** The lifetime as the endpoint said it; absent if it did not. */
  readonly said_lifetime_s?: number
  /** With which the next token is requested; absent if the endpoint gave none that is usable. */
  readonly refresh_token?: Secret
  /** Lifetime of the refresh token, if the endpoint says it. */
  readonly refresh_lifetime_s?: number
  /** The scope that was granted, if the endpoint says it. */
  readonly scope?: string
}

export type TokenAnswer =
  | ({ readonly kind: 'token' } & FetchedToken)
  | { readonly kind: 'failed'; readonly failure: TokenFailure }

/** Used if the endpoint does not return one (RFC 6749 only recommends it). */
const DEFAULT_LIFETIME_S = 300
/** Tokens with a longer lifetime are fetched again after a day, so that no response can make one last forever. */
const LIFETIME_LIMIT_S = 86_400
/** As long as the other credentials that go into a header may be. */
const TOKEN_LENGTH_LIMIT = 8192
/** Visible ASCII: a line break would start another header, a space a second word. */
const USABLE = /^[\x21-\x7e]+$/

/** Error codes of RFC 6749 §5.2 and §4.1.2.1. Any other text could contain what was sent, so it is not reported. */
const ERROR_CODES: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
])
/** What Slack and GitHub say, with the status 200, in place of a code of RFC 6749. */
const OWN_CODES: Readonly<Record<string, string>> = {
  bad_client_secret: 'invalid_client',
  bad_refresh_token: 'invalid_grant',
  bad_verification_code: 'invalid_grant',
  incorrect_client_credentials: 'invalid_client',
  invalid_client_id: 'invalid_client',
  invalid_code: 'invalid_grant',
  invalid_refresh_token: 'invalid_grant',
}
/** Slack says whose a bearer token is. */
const BEARER_TYPES: ReadonlySet<unknown> = new Set(['bearer', 'bot', 'user'])

/** Parses the response of a token endpoint (RFC 6749 §5). */
export function readTokenAnswer(status: number, body: Buffer): TokenAnswer {
  if (status >= 300 && status < 400) return noToken('redirect_refused', status)
  const answer = readObject(body)
  const code = codeOf(answer?.['error'])
  const text = answer?.['access_token']
  if (status !== 200 || (text === undefined && code !== null))
    return noToken('refused', status, code)
  if (typeof text !== 'string') return noToken('unreadable_answer', status)
  const type = answer?.['token_type']
  if (typeof type !== 'string' || !BEARER_TYPES.has(type.toLowerCase()))
    return noToken('other_token_type', status)
  const token = usableToken(status, [text], readLifetime(answer?.['expires_in']))
  return token.kind === 'failed' ? token : { ...token, ...furtherMembers(answer ?? {}) }
}

function codeOf(said: unknown): string | null {
  if (typeof said !== 'string') return null
  return ERROR_CODES.has(said)
    ? said
    : Object.hasOwn(OWN_CODES, said)
      ? (OWN_CODES[said] ?? null)
      : null
}

/** @param parts of the token, which are separated by blanks */
export function usableToken(
  status: number,
  parts: readonly string[],
  lifetime_s: number,
): TokenAnswer {
  if (!parts.every((part) => USABLE.test(part) && part.length <= TOKEN_LENGTH_LIMIT))
    return noToken('unusable_token', status)
  if (Number.isNaN(lifetime_s)) return noToken('unreadable_answer', status)
  if (lifetime_s <= 0) return noToken('expired_token', status)
  const token = new Secret(parts.join(' '))
  return { kind: 'token', token, lifetime_s: Math.min(lifetime_s, LIFETIME_LIMIT_S) }
}

/** RFC 6749 §5.1; the lifetime of a refresh token has no standard name, but several providers use this one. */
function furtherMembers({
  refresh_token,
  refresh_token_expires_in,
  expires_in,
  scope,
}: Readonly<Record<string, unknown>>): Partial<FetchedToken> {
  const refresh_lifetime_s = Number(refresh_token_expires_in)
  const said_lifetime_s = Number(expires_in ?? Number.NaN)
  return {
    ...(said_lifetime_s > 0 ? { said_lifetime_s } : {}),
    ...(typeof refresh_token === 'string' && isRefreshToken(refresh_token)
      ? { refresh_token: new Secret(refresh_token) }
      : {}),
    ...(Number.isFinite(refresh_lifetime_s) && refresh_lifetime_s > 0
      ? { refresh_lifetime_s }
      : {}),
    ...(typeof scope === 'string' && isScope(scope) ? { scope } : {}),
  }
}

/** It is sent in a form, so any visible text is usable. */
const isRefreshToken = (text: string): boolean =>
  text.length <= TOKEN_LENGTH_LIMIT && /^[\x20-\x7e]+$/.test(text)

const SCOPE_LENGTH_LIMIT = 2048
/** RFC 6749 §3.3, with the comma that some providers separate by. */
const isScope = (text: string): boolean =>
  text.length <= SCOPE_LENGTH_LIMIT && /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

/** Some endpoints write the number as text. */
function readLifetime(expires_in: unknown): number {
  const isGiven =
    typeof expires_in === 'number' || (typeof expires_in === 'string' && expires_in.trim() !== '')
  const lifetime_s = isGiven ? Number(expires_in) : DEFAULT_LIFETIME_S
  return Number.isNaN(lifetime_s) ? DEFAULT_LIFETIME_S : Math.min(lifetime_s, LIFETIME_LIMIT_S)
}

export function readObject(body: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

export const noToken = (
  cause: TokenFailure['cause'],
  status: number,
  code: string | null = null,
): TokenAnswer => ({ kind: 'failed', failure: tokenFailure(cause, status, code) })
