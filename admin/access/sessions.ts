import type { Audit } from '../http/outcome.ts'
import { randomBytes } from 'node:crypto'
import { hashKey } from '../../core/keys/api-key.ts'
import type { AdminToken } from '../../core/catalogue/model.ts'
import { commit } from '../../core/change/commit.ts'
import { isDiskFull } from '../../core/redis/is-disk-full.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { runScript } from '../../core/redis/run-script.ts'
import { activityWrite } from '../../core/change/activity-write.ts'
import { auditEntry } from '../changes/audit-entry.ts'
import type { Actor, AdminContext } from '../context/admin-context.ts'
import type { NamedSession } from './named-session.ts'
import { parseRecord } from '../../core/store/stored-record.ts'

/** However much it is used, a session ends after a long working day. */
export const SESSION_LIMIT_MS = 12 * 3_600_000
/** An idle session ends sooner. Background requests of a page do not count as use. */
export const SESSION_IDLE_MS = 3_600_000
/** Sessions of one token; a new one ends the oldest. */
export const SESSIONS_LIMIT = 20
const TRIES_LIMIT = 5
const SECRET_BYTES = 32

type Needed = Pick<AdminContext, 'redis' | 'now'>

/** The two halves of what opens a session; the store keeps their hashes. */
export interface SessionSecrets {
  /** For the cookie. */
  readonly secret: string
  /** For the page. */
  readonly page_secret: string
}

/**
 * Opens a session for a user who has signed in with a token.
 * Null when the token was deleted meanwhile, or too many sign in with it at this moment.
 */
export async function openSession(
  { redis, settings, now }: AdminContext,
  actor: Actor,
  request_id: string,
): Promise<SessionSecrets | null> {
  const { organization_id, token_id } = actor
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const page_secret = randomBytes(SECRET_BYTES).toString('base64url')
  const hash = hashKey(secret)
  const index = REDIS_KEYS.sessionIndex(organization_id, token_id)
  const audit: Audit = {
    action: 'sign_in.dashboard',
    target: token_id,
    before: null,
    after: null,
  }
  for (let tries = 0; tries < TRIES_LIMIT; tries++) {
    const opened = await redis.zrange(index, '0', '-1')
    const ended = opened.slice(0, Math.max(0, opened.length - SESSIONS_LIMIT + 1))
    const at = now()
    const committed = await commit(
      redis,
      {
        guards: [
          ['HGET', REDIS_KEYS.adminTokens(organization_id), token_id, true],
          ['ZCARD', index, '', String(opened.length)],
        ],
        writes: [
          ...ended.map((old) => ['DEL', REDIS_KEYS.session(old)] as const),
          ...ended.map((old) => ['ZREM', index, old] as const),
          ['HSET', REDIS_KEYS.session(hash), 'organization_id', organization_id],
          ['HSET', REDIS_KEYS.session(hash), 'token_id', token_id],
          ['HSET', REDIS_KEYS.session(hash), 'page_hash', hashKey(page_secret)],
          ['HSET', REDIS_KEYS.session(hash), 'ends_ms', at.getTime() + SESSION_LIMIT_MS],
          ['HSET', REDIS_KEYS.session(hash), 'used_ms', at.getTime()],
          ['PEXPIRE', REDIS_KEYS.session(hash), SESSION_IDLE_MS],
          ['ZADD', index, at.getTime(), hash],
          ['PEXPIRE', index, SESSION_LIMIT_MS],
          activityWrite(auditEntry(audit, { actor, request_id, now: at })),
        ],
        targets: [],
      },
      settings.killLease_ms,
      // An operator who comes to kill the agent that filled the store must be able to sign in (threat model, rule 21).
      'even_when_full',
    )
    if (committed.kind === 'committed') return { secret, page_secret }
  }
  return null
}

/** Who a session stands for; null when it is over, another page opened it, or its token is deleted or expired. */
export async function findSession(
  { redis, now }: Needed,
  { hash, page_hash }: NamedSession,
  { source_ip, isUse }: { readonly source_ip: string | null; readonly isUse: boolean },
): Promise<Actor | null> {
  const now_ms = now().getTime()
  const keys = [REDIS_KEYS.session(hash)] as const
  const args = [REDIS_KEYS.adminTokens(''), page_hash, now_ms, SESSION_IDLE_MS]
  const text = await runScript(redis, 'find-session', keys, [...args, isUse ? 1 : 0]).catch(
    (error: unknown) => {
      // An operator looks at the outage, whose use of the session cannot be noted.
      if (isDiskFull(error)) return runScript(redis, 'read-session', keys, args)
      throw error
    },
  )
  if (typeof text !== 'string') return null
  const token = parseRecord<AdminToken>(text)
  if (token.expires_at !== null && Date.parse(token.expires_at) <= now_ms) return null
  const { token_id, organization_id, email, role } = token
  return { token_id, organization_id, email, role, source_ip, session: hash }
}

export async function endSession({ redis }: Needed, hash: string, actor: Actor): Promise<void> {
  await redis.del(REDIS_KEYS.session(hash))
  await redis.zrem(REDIS_KEYS.sessionIndex(actor.organization_id, actor.token_id), hash)
}
