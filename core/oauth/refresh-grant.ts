import { randomBytes } from 'node:crypto'
import type { OpenedFor } from '../credential/catalogue.ts'
import type { Secret } from '../keys/secret.ts'
import { lease } from '../redis/lease.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { openForUse, type SecretParts } from '../secret/open-for-use.ts'
import type { CredentialOwner } from '../store/credential-binding.ts'
import { askToken } from '../token/ask-token.ts'
import { type CredentialCause, type TokenFailure, tokenFailure } from '../token/credential-cause.ts'
import type { Egress } from '../token/post-form.ts'
import type { TokenAnswer } from '../token/read-token-answer.ts'
import { endGrant } from './end-grant.ts'
import { type Grant, grantOf, openToken, STEP_MS } from './grant.ts'
import { readGrant, swapGrant } from './grant-store.ts'
import { isActiveToken } from './is-active-token.ts'
import { revokeTokens } from './revoke-token.ts'

/** A connection with its credential, and where that may go. */
export type GrantOwner = CredentialOwner & { readonly connection_id: string }

export interface RefreshParts extends SecretParts {
  readonly redis: RedisClient
  readonly egress: Egress
  /** Of edges. */
  readonly lease_ms: number
}

export type Refreshed =
  | { readonly kind: 'refreshed'; readonly grant: Grant }
  /** Another process is at it, or has just done it. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly failure: TokenFailure }

/** From the connection to the last byte. A call waits for it only if there is no usable token. */
const REQUEST_LIMIT_MS = 10_000
/** If the process that refreshes dies, another one takes over after this time. Renewed every third of it. */
const LEASE_MS = 1_500
/** After a failure, no request is made for a second, doubled with each consecutive failure. */
const PAUSE_MS = 1_000
const PAUSE_LIMIT_MS = 60_000
/** How long the answer of the provider is kept for a store that is unavailable. */
const WRITE_LIMIT_MS = 60_000
const WRITE_AGAIN_MS = 100

/**
 * Requests a new access token for a connection. Of all processes, one at a time does it: a lease keeps the others away, and the
 * number in the grant makes sure of it. A refresh token is never used twice, unless the provider is known to accept that.
 * @param isDue whether the grant has to be refreshed at this time, asked again when the lease is held
 * @throws if the store is unavailable before anything was sent
 */
export async function refreshGrant(
  parts: RefreshParts,
  owner: GrantOwner,
  isDue: (grant: Grant, now_ms: number) => boolean,
): Promise<Refreshed> {
  const { redis } = parts
  const key = REDIS_KEYS.grantLease(owner.organization_id, owner.connection_id)
  const name = randomBytes(9).toString('base64url')
  if ((await lease.hold(redis, key, name, LEASE_MS)) === 'not ours') return { kind: 'elsewhere' }
  const renew = (): void => void lease.hold(redis, key, name, LEASE_MS).catch(() => undefined)
  const timer = setInterval(renew, LEASE_MS / 3)
  timer.unref()
  try {
    return await refreshAlone(parts, owner, isDue)
  } finally {
    clearInterval(timer)
    await lease.release(redis, key, name)
  }
}

async function refreshAlone(
  parts: RefreshParts,
  owner: GrantOwner,
  isDue: (grant: Grant, now_ms: number) => boolean,
): Promise<Refreshed> {
  const { redis, ring, egress } = parts
  const auth = await openForUse(parts, owner)
  const { grant, text, now_ms } = await readGrant(redis, owner)
  if (grant === null) return failed(tokenFailure('needs_consent'))
  if (!isDue(grant, now_ms)) return { kind: 'elsewhere' }
  // One that is longer than any is of a clock that has stepped back since.
  const paused_ms = grant.retry_ms - now_ms
  if (paused_ms > 0 && paused_ms <= PAUSE_LIMIT_MS)
    return failed(tokenFailure(grant.last_error ?? 'busy'))
  if (auth === 'reference_unavailable')
    return await pause(parts, owner, { grant, text, now_ms }, auth, grant.sent_ms)
  const refresh_token = openToken(ring, owner, grant, 'refresh_token')
  if (typeof auth === 'string' || auth.type !== 'oauth2_authorization_code')
    return failed(tokenFailure('not_opened'))
  if (refresh_token === null)
    return grant.refresh_token === null
      ? failed(tokenFailure('needs_consent'))
      : failed(tokenFailure('not_opened'))
  const ready = { auth, refresh_token, grant, text, now_ms, sent_ms: now_ms }
  if (grant.sent_ms === null) return await request(parts, owner, ready)
  const { sent_ms } = grant
  const fate = await fateOf(egress, { ...ready, sent_ms })
  switch (fate) {
    case 'usable':
      return await request(parts, owner, ready)
    case 'in grace':
      return await request(parts, owner, { ...ready, sent_ms })
    case 'lost':
      return await end(parts, owner, text, 'token_lost')
    case 'unknown':
      return await pause(parts, owner, ready, 'timeout', sent_ms)
    case 'at work':
      return await pause(parts, owner, ready, 'timeout', sent_ms, sent_ms + REQUEST_LIMIT_MS)
  }
}

interface Ready {
  readonly auth: OpenedFor<'connection'>
  readonly refresh_token: Secret
  readonly grant: Grant
  readonly text: string
  readonly now_ms: number
  /** When the refresh token was sent first. */
  readonly sent_ms: number
}

async function request(
  parts: RefreshParts,
  owner: GrantOwner,
  { auth, refresh_token, grant, text, now_ms, sent_ms }: Ready,
): Promise<Refreshed> {
  const { redis, ring, egress } = parts
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refresh_token.reveal(),
  })
  if (auth.resource !== undefined) form.set('resource', auth.resource)
  const started = { ...grant, fence: grant.fence + 1, sent_ms }
  let announced: string | null = null
  const answer = await askToken(egress, auth, {
    style: grant.style,
    form,
    deadline: AbortSignal.timeout(REQUEST_LIMIT_MS),
    beforeSending: async () => {
      announced = await swapGrant(redis, owner, text, started)
      return announced !== null
    },
  })
  if (announced === null) {
    const overtaken = answer.kind === 'failed' && answer.failure.cause === 'busy'
    if (overtaken) return { kind: 'elsewhere' }
    return await pause(parts, owner, { grant, text, now_ms }, causeOf(answer), grant.sent_ms)
  }
  if (answer.kind === 'token') {
    const next = grantOf(ring, owner, started, {
      ...answer,
      style: grant.style,
      started_ms: now_ms,
    })
    return await write(parts, owner, [announced, text], next)
  }
  const { token_error } = answer.failure
  if (token_error === 'invalid_grant') return await end(parts, owner, announced, 'consent_ended')
  const { cause, token_status } = answer.failure
  // An answer with another error has used nothing; without one, and by an error of what is between, the token may have been used.
  const isUnused =
    cause === 'refused' && ((token_status ?? 0) < 500 || auth.introspection_url === undefined)
  const sent = { grant: started, text: announced, now_ms }
  // In the grace of an earlier request, that one counts.
  return await pause(parts, owner, sent, cause, isUnused && sent_ms === now_ms ? null : sent_ms)
}

/** The new refresh token exists nowhere else, so a store that is unavailable is waited for. */
async function write(
  parts: RefreshParts,
  owner: GrantOwner,
  texts: readonly string[],
  next: Grant,
): Promise<Refreshed> {
  const { redis } = parts
  const until_ms = performance.now() + WRITE_LIMIT_MS
  for (;;) {
    try {
      for (const text of texts)
        if ((await swapGrant(redis, owner, text, next)) !== null)
          return { kind: 'refreshed', grant: next }
      // A write whose answer was lost is found as what it has written.
      const found = await readGrant(redis, owner)
      // The connection was ended meanwhile: what the provider has just issued is not left alive.
      if (found.grant === null) void revokeTokens(parts, owner, next)
      const isOurs = found.text === JSON.stringify(next)
      return isOurs ? { kind: 'refreshed', grant: next } : { kind: 'elsewhere' }
    } catch (error) {
      if (performance.now() > until_ms) throw error
      await new Promise((resolve) => setTimeout(resolve, WRITE_AGAIN_MS))
    }
  }
}

/** What became of a refresh token that a process was about to use when it ended, or to which no answer came. */
async function fateOf(
  egress: Egress,
  { auth, grant, refresh_token, now_ms, sent_ms }: Omit<Ready, 'text'>,
): Promise<'usable' | 'in grace' | 'at work' | 'lost' | 'unknown'> {
  if (grant.rotates === false) return 'usable'
  const isWithin = (limit_ms: number): boolean =>
    now_ms >= sent_ms - STEP_MS && now_ms < sent_ms + limit_ms
  if (isWithin(graceOf(auth))) return 'in grace'
  const { introspection_url } = auth
  if (introspection_url === undefined) return 'lost'
  const { style } = grant
  const isActive = await isActiveToken(egress, auth, introspection_url, refresh_token, style)
  if (isActive === null) return 'unknown'
  if (!isActive) return 'lost'
  // The provider may have the request, and not have used the token yet.
  return isWithin(REQUEST_LIMIT_MS) ? 'at work' : 'usable'
}

/** At most half of what is left of a grace: after it the refresh token is lost. */
function pauseOf({ failures }: Grant, grace_left_ms: number): number {
  const pause_ms = Math.min(PAUSE_MS * 2 ** failures, PAUSE_LIMIT_MS)
  return grace_left_ms > 0 ? Math.min(pause_ms, Math.max(PAUSE_MS, grace_left_ms / 2)) : pause_ms
}

/** In which the provider takes a refresh token that it has replaced. */
const graceOf = (auth: GrantOwner['auth'] | Ready['auth']): number =>
  auth.type === 'oauth2_authorization_code' ? Number(auth.refresh_reuse_s ?? 0) * 1000 : 0

async function pause(
  { redis }: RefreshParts,
  owner: GrantOwner,
  { grant, text, now_ms }: Pick<Ready, 'grant' | 'text' | 'now_ms'>,
  cause: CredentialCause,
  sent_ms: number | null,
  retry_ms = now_ms + pauseOf(grant, sent_ms === null ? 0 : sent_ms + graceOf(owner.auth) - now_ms),
): Promise<Refreshed> {
  await swapGrant(redis, owner, text, {
    ...grant,
    sent_ms,
    failures: grant.failures + 1,
    retry_ms,
    last_error: cause,
  })
  return failed(tokenFailure(cause))
}

async function end(
  parts: RefreshParts,
  owner: GrantOwner,
  text: string,
  cause: CredentialCause,
): Promise<Refreshed> {
  const isEnded = await endGrant(parts, owner, text, 'needs_consent', cause)
  return isEnded ? failed(tokenFailure(cause)) : { kind: 'elsewhere' }
}

const causeOf = (answer: TokenAnswer): CredentialCause =>
  answer.kind === 'failed' ? answer.failure.cause : 'busy'

const failed = (failure: TokenFailure): Refreshed => ({ kind: 'failed', failure })
