import type { KeyRing, SealBinding } from '../keys/seal.ts'
import { reseal, seal, unseal } from '../keys/seal.ts'
import type { Secret } from '../keys/secret.ts'
import { type CredentialOwner, credentialBinding } from '../store/credential-binding.ts'
import type { ClientStyle } from '../token/ask-token.ts'
import type { CredentialCause } from '../token/credential-cause.ts'
import type { FetchedToken } from '../token/read-token-answer.ts'
import { aheadOf, marginOf } from '../token/token-life.ts'

/**
 * The tokens of a connection, as they are stored. A refresh token exists once (threat model, rule 51): each request that uses one
 * is announced here before it is sent, and only the process that announced it replaces the record.
 */
export interface Grant {
  /** Increases with every request to the token endpoint; a process that has been overtaken finds another number. */
  readonly fence: number
  /** Sealed, as the next. */
  readonly access_token: string
  /** Null if the provider gave none: the grant ends with its access token. */
  readonly refresh_token: string | null
  /** By the clock of the store, as all times here. */
  readonly issued_ms: number
  readonly expires_ms: number
  /** Null if the provider does not say it. */
  readonly refresh_expires_ms: number | null
  readonly scope: string | null
  readonly style: ClientStyle
  /** Whether the provider replaces the refresh token with each use; null while it is unknown. */
  readonly rotates: boolean | null
  /** When the request that is in progress was announced. If its process is gone, the refresh token may have been used. */
  readonly sent_ms: number | null
  /** Consecutive failed requests, and until when no other is made. */
  readonly failures: number
  readonly retry_ms: number
  readonly last_error: CredentialCause | null
}

const MEMBERS = ['access_token', 'refresh_token'] as const
type TokenMember = (typeof MEMBERS)[number]

const bindingOf = (owner: CredentialOwner, member: TokenMember): SealBinding => ({
  ...credentialBinding(owner, member),
  stored_as: 'connection_grant',
})

/** Null if it does not open: another key, or a token that belongs elsewhere. */
export const openToken = (
  ring: KeyRing,
  owner: CredentialOwner,
  grant: Grant,
  member: TokenMember,
): Secret | null => {
  const sealed = grant[member]
  return sealed === null ? null : unseal(ring, sealed, bindingOf(owner, member))
}

export const sealedTokens = (grant: Grant): readonly string[] =>
  MEMBERS.flatMap((member) => grant[member] ?? [])

/** The same grant sealed with the primary key; null if a token does not open. */
export function resealGrant(ring: KeyRing, owner: CredentialOwner, grant: Grant): Grant | null {
  const access_token = reseal(ring, grant.access_token, bindingOf(owner, 'access_token'))
  const { refresh_token } = grant
  const again =
    refresh_token === null ? null : reseal(ring, refresh_token, bindingOf(owner, 'refresh_token'))
  if (access_token === null || (again === null && refresh_token !== null)) return null
  return { ...grant, access_token, refresh_token: again }
}

/** A token that nothing renews serves for as long as its provider says, at most and by default so long: there it is revoked. */
const LASTING_S = 10 * 365 * 86_400

/**
 * What a token answer makes of a grant.
 * @param before null for the answer to a code
 * @param started_ms when the request was sent: lifetimes count from there
 */
export function grantOf(
  ring: KeyRing,
  owner: CredentialOwner,
  before: Grant | null,
  answer: FetchedToken & { readonly style: ClientStyle; readonly started_ms: number },
): Grant {
  const { token, refresh_token, refresh_lifetime_s, scope, style, started_ms } = answer
  const sealed = (text: Secret, member: TokenMember): string =>
    seal(ring, text.reveal(), bindingOf(owner, member))
  const old = before === null ? null : openToken(ring, owner, before, 'refresh_token')
  const next = refresh_token ?? old
  const lifetime_s =
    next === null ? Math.min(answer.said_lifetime_s ?? LASTING_S, LASTING_S) : answer.lifetime_s
  return {
    fence: before?.fence ?? 0,
    access_token: sealed(token, 'access_token'),
    refresh_token: next === null ? null : sealed(next, 'refresh_token'),
    issued_ms: started_ms,
    expires_ms: started_ms + lifetime_s * 1000,
    refresh_expires_ms:
      refresh_lifetime_s === undefined
        ? refresh_token === undefined
          ? (before?.refresh_expires_ms ?? null)
          : null
        : started_ms + refresh_lifetime_s * 1000,
    scope: scope ?? before?.scope ?? null,
    style,
    rotates:
      before === null
        ? null
        : refresh_token !== undefined && refresh_token.reveal() !== old?.reveal(),
    sent_ms: null,
    failures: 0,
    retry_ms: 0,
    last_error: null,
  }
}

const lifeOf = ({ issued_ms, expires_ms }: Grant): number => expires_ms - issued_ms

/** A time that lies further ahead was told by a clock that has stepped back since. */
export const STEP_MS = 1_000

export const isUsable = (grant: Grant, now_ms: number): boolean =>
  now_ms < grant.expires_ms - marginOf(lifeOf(grant)) && now_ms >= grant.issued_ms - STEP_MS

export const isDue = (grant: Grant, now_ms: number): boolean =>
  now_ms >= refreshFrom(grant) || now_ms < grant.issued_ms - STEP_MS

export const refreshFrom = (grant: Grant): number => grant.expires_ms - aheadOf(lifeOf(grant))
