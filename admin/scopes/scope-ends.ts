import type { Logger } from 'pino'
import { raiseAlert } from '../../core/alerts/raise-alert.ts'
import { resolveAlert } from '../../core/alerts/resolve-alert.ts'
import type { Write } from '../../core/change/commit.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { repeatWork } from '../../core/system/repeat-work.ts'
import { type RedisClient, runScript } from '../../core/redis/run-script.ts'
import { causeOfEnd, endingOf, isKeyOrToken } from '../keys/key-ends.ts'
import { scopeOf } from './scope-store.ts'

/** An alert is raised this long before a scope ends, and none if the end was set later than that. */
const NOTICE_MS = 24 * 3600_000
const INTERVAL_MS = 15_000
/** The next attempt if this process ends while it deals with a scope. */
const RETRY_MS = 60_000

type EndingScope = Pick<Scope, 'organization_id' | 'scope_id' | 'expires_at'>

const memberOf = ({ organization_id, scope_id }: EndingScope): string =>
  `${organization_id} ${scope_id}`

/**
 * Plans the alert about the end of a scope. A deletion plans nothing: what is due for a scope that is gone resolves its alert.
 * @param before the end until now; undefined for a new scope
 */
export function planEndNotice(scope: EndingScope, before: string | null, now: Date): Write[] {
  const { expires_at = null } = scope
  if (expires_at === before) return []
  const now_ms = now.getTime()
  const ends_ms = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  const isSoon = ends_ms - NOTICE_MS <= now_ms
  // An alert about the end until now is resolved at once if the new one is far away, else at the new one.
  const due_ms = isSoon ? ends_ms : before === null ? ends_ms - NOTICE_MS : now_ms
  return [['ZADD', REDIS_KEYS.scopeEnds, due_ms, memberOf(scope)]]
}

interface Parts {
  readonly redis: RedisClient
  readonly now: () => Date
  readonly log: Logger
}

/** Raises and resolves the alerts about scopes that end. Returns the function that stops it. */
export const watchScopeEnds = (parts: Parts): (() => Promise<void>) =>
  repeatWork(
    INTERVAL_MS,
    () => tellDueEnds(parts),
    (error) =>
      parts.log.warn({ err: error }, 'alerts about scopes that end are late; it will be retried'),
  )

/** Deals with all scopes, keys and tokens that are due. */
export async function tellDueEnds({ redis, now }: Omit<Parts, 'log'>): Promise<void> {
  for (;;) {
    const member = await runScript(redis, 'claim-notice', [REDIS_KEYS.scopeEnds], [RETRY_MS])
    if (typeof member !== 'string') return
    const [organization_id = '', scope_id = ''] = member.split(' ')
    if (isKeyOrToken(scope_id)) {
      const ending = await endingOf(redis, organization_id, scope_id)
      if (ending !== null && Date.parse(ending.expires_at ?? '') > now().getTime())
        await raiseAlert(redis, organization_id, causeOfEnd(scope_id, ending), now())
      await redis.zrem(REDIS_KEYS.scopeEnds, member)
      continue
    }
    const scope = await scopeOf(redis, organization_id, scope_id)
    const next_ms = await tellEnd(redis, { organization_id, scope_id, scope, at: now() })
    if (next_ms === null) await redis.zrem(REDIS_KEYS.scopeEnds, member)
    else await redis.zadd(REDIS_KEYS.scopeEnds, next_ms, member)
    // A change in between has planned a time that this has just replaced.
    const after = await scopeOf(redis, organization_id, scope_id)
    if (after?.expires_at !== scope?.expires_at)
      await redis.zadd(REDIS_KEYS.scopeEnds, now().getTime(), member)
  }
}

/** Returns when the scope is due next; null if never. */
async function tellEnd(
  redis: RedisClient,
  due: {
    readonly organization_id: string
    readonly scope_id: string
    readonly scope: Scope | null
    readonly at: Date
  },
): Promise<number | null> {
  const { organization_id, scope_id, scope, at } = due
  const about = `scope_expiring ${scope_id}`
  const over = (resolution: string): Promise<void> =>
    resolveAlert(redis, organization_id, about, { resolution, at })
  const expires_at = scope?.expires_at ?? null
  if (scope === null || expires_at === null) {
    await over('The scope was deleted, or no longer ends.')
    return null
  }
  const left_ms = Date.parse(expires_at) - at.getTime()
  if (left_ms <= 0) {
    await over('The scope has ended.')
    return null
  }
  if (left_ms > NOTICE_MS) {
    await over('The scope ends later.')
    return Date.parse(expires_at) - NOTICE_MS
  }
  const { name, agent_id, integration_id } = scope
  const cause = {
    about,
    kind: 'scope_expiring',
    severity: 'medium',
    title: `The scope ${name} ends at ${expires_at}. Its calls are refused from then on.`,
    occurrence: { scope_id, name, expires_at, integration_id, of_agent: agent_id },
  } as const
  await raiseAlert(redis, organization_id, cause, at)
  return Date.parse(expires_at)
}
