import type { Logger } from 'pino'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { endGrant } from '../../core/oauth/end-grant.ts'
import { type Grant, isDue } from '../../core/oauth/grant.ts'
import { dueMember, dueOf, type GrantPlace, readGrant } from '../../core/oauth/grant-store.ts'
import { refreshGrant } from '../../core/oauth/refresh-grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { SecretParts } from '../../core/secret/open-for-use.ts'
import type { Egress } from '../../core/token/post-form.ts'
import { connectionOwner, type OwnedConnection } from './connection-owner.ts'
import { workOnDue } from './work-on-due.ts'

const INTERVAL_MS = 1_000
/** The next attempt if this process ends while it deals with a grant. */
const RETRY_MS = 1_000
/** An alert says this long before that a grant ends which nothing renews. */
const NOTICE_MS = 24 * 3600_000

interface Parts extends SecretParts {
  readonly redis: RedisClient
  readonly tokenEgress: Egress
  readonly lease_ms: number
  readonly now: () => Date
  readonly log: Logger
}

/**
 * Renews the access tokens of connections before they expire, so that no call waits for it. Every admin process does; an edge does
 * it too for a call that finds no usable token. Returns the function that stops it.
 */
export const refreshGrants = (parts: Parts): (() => Promise<void>) =>
  workOnDue(
    {
      redis: parts.redis,
      key: REDIS_KEYS.grantsDue,
      interval_ms: INTERVAL_MS,
      retry_ms: RETRY_MS,
      failed: (error) =>
        parts.log.warn({ err: error }, 'a grant was not renewed; it will be retried'),
    },
    ([organization_id = '', connection_id = '']) =>
      renew(parts, { organization_id, connection_id }),
  )

async function renew(parts: Parts, place: GrantPlace): Promise<void> {
  const { redis, log } = parts
  const owned = await connectionOwner(redis, place.organization_id, place.connection_id)
  const { grant, text, now_ms } = await readGrant(redis, place)
  if (owned === null || grant === null || owned.connection.status !== 'active') {
    await redis.zrem(REDIS_KEYS.grantsDue, dueMember(place))
    return
  }
  if (grant.refresh_token === null) {
    if (now_ms >= grant.expires_ms)
      return void (await endGrant(parts, place, text, 'expired', 'needs_consent'))
    await tellEnd(parts, owned, grant.expires_ms, now_ms)
    await redis.zadd(REDIS_KEYS.grantsDue, nextNotice(grant, now_ms), dueMember(place))
    return
  }
  const { tokenEgress: egress } = parts
  const done = await refreshGrant({ ...parts, egress }, owned.owner, mustRenew)
  if (done.kind === 'failed') log.warn({ ...place, ...done.failure }, 'a grant was not renewed')
  const after = done.kind === 'refreshed' ? done.grant : (await readGrant(redis, place)).grant
  if (after === null) return
  if (after.refresh_expires_ms !== null)
    await tellEnd(parts, owned, after.refresh_expires_ms, now_ms)
  // Another process may have done it; what this one claimed it for is over.
  if (done.kind === 'elsewhere' && after.sent_ms === null)
    await redis.zadd(REDIS_KEYS.grantsDue, dueOf(after), dueMember(place))
}

const mustRenew = (grant: Grant, now_ms: number): boolean =>
  grant.sent_ms !== null || isDue(grant, now_ms)

const nextNotice = ({ expires_ms }: Grant, now_ms: number): number =>
  Math.ceil(now_ms < expires_ms - NOTICE_MS ? expires_ms - NOTICE_MS : expires_ms)

async function tellEnd(
  { redis, now }: Parts,
  { connection }: OwnedConnection,
  ends_ms: number,
  now_ms: number,
): Promise<void> {
  if (now_ms < ends_ms - NOTICE_MS) return
  const { organization_id, connection_id, integration_id, name } = connection
  const expires_at = new Date(ends_ms).toISOString()
  const cause = {
    about: `connection ${connection_id}`,
    kind: 'credential_expiring',
    severity: 'medium',
    title: `The credential of the connection ${name} ends at ${expires_at}. Consent to it again.`,
    occurrence: { connection_id, integration_id, expires_at },
  } as const
  await raiseAlert(redis, organization_id, cause, now())
}
