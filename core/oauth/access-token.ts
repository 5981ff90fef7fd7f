import type { Secret } from '../keys/secret.ts'
import { tokenFailure } from '../token/credential-cause.ts'
import type { TokenAnswer } from '../token/read-token-answer.ts'
import { type Grant, isDue, isUsable, openToken } from './grant.ts'
import { readGrant } from './grant-store.ts'
import { type GrantOwner, type RefreshParts, refreshGrant } from './refresh-grant.ts'

/** How long a call without a usable token waits for another process that requests one. */
const WAIT_LIMIT_MS = 5_000
const LOOK_INTERVAL_MS = 50

/**
 * The access token of a connection. It is usually fresh, since admin renews it ahead of its end; if not, this process requests a new
 * one, or waits for the one that does. Never rejects.
 * @param rejected a token that the API does not accept any more
 */
export async function accessToken(
  parts: RefreshParts,
  owner: GrantOwner,
  rejected: Secret | null,
): Promise<TokenAnswer> {
  try {
    return await currentToken(parts, owner, rejected)
  } catch {
    return { kind: 'failed', failure: tokenFailure('store_unavailable') }
  }
}

async function currentToken(
  parts: RefreshParts,
  owner: GrantOwner,
  rejected: Secret | null,
): Promise<TokenAnswer> {
  const { redis, ring } = parts
  const isRejected = (grant: Grant): boolean =>
    rejected !== null &&
    openToken(ring, owner, grant, 'access_token')?.reveal() === rejected.reveal()
  const mustRenew = (grant: Grant, now_ms: number): boolean =>
    isDue(grant, now_ms) || isRejected(grant)
  const until_ms = performance.now() + WAIT_LIMIT_MS
  for (;;) {
    const { grant, now_ms } = await readGrant(redis, owner)
    if (grant === null) return { kind: 'failed', failure: tokenFailure('needs_consent') }
    const current = isRejected(grant) ? null : tokenOf(parts, owner, grant, now_ms)
    if (current !== null) {
      // The old one serves to its end, so no call waits for the new one.
      if (mustRenew(grant, now_ms))
        void refreshGrant(parts, owner, mustRenew).catch(() => undefined)
      return current
    }
    const done = await refreshGrant(parts, owner, mustRenew)
    if (done.kind === 'refreshed') {
      const fresh = tokenOf(parts, owner, done.grant, now_ms)
      if (fresh !== null) return fresh
    }
    if (done.kind === 'failed') return done
    if (performance.now() > until_ms) return { kind: 'failed', failure: tokenFailure('timeout') }
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS))
  }
}

/** Null if it has run out. */
function tokenOf(
  { ring }: Pick<RefreshParts, 'ring'>,
  owner: GrantOwner,
  grant: Grant,
  now_ms: number,
): TokenAnswer | null {
  if (!isUsable(grant, now_ms)) return null
  const { issued_ms, expires_ms } = grant
  const token = openToken(ring, owner, grant, 'access_token')
  return token === null
    ? { kind: 'failed', failure: tokenFailure('not_opened') }
    : {
        kind: 'token',
        token,
        lifetime_s: (expires_ms - issued_ms) / 1000,
        age_ms: now_ms - issued_ms,
      }
}
