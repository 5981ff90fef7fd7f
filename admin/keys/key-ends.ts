import type { AdminToken, ApiKey } from '../../core/catalogue/model.ts'
import type { AlertCause } from '../../core/alerts/alert.ts'
import type { Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { readRecord } from '../resources/records.ts'

const DAY_MS = 24 * 3600_000

/** A key or token with an end. Both are found by their id alone. */
export type Ending = Pick<
  ApiKey,
  'organization_id' | 'name' | 'last4' | 'created_at' | 'expires_at'
> &
  Partial<Pick<ApiKey, 'agent_id' | 'revoked_at'>> &
  Partial<Pick<AdminToken, 'email'>>

/** Null for what is made for a day or two. */
function noticeAt({
  created_at,
  expires_at,
}: Pick<Ending, 'created_at' | 'expires_at'>): number | null {
  if (expires_at === null) return null
  const ends_ms = Date.parse(expires_at)
  const days = (ends_ms - Date.parse(created_at)) / DAY_MS
  return days > 14 ? ends_ms - 7 * DAY_MS : days > 2 ? ends_ms - DAY_MS : null
}

/** Plans the one alert before a key or token ends. */
export function planKeyNotice(
  id: string,
  ending: Pick<Ending, 'organization_id' | 'created_at' | 'expires_at'>,
): Write[] {
  const at_ms = noticeAt(ending)
  return at_ms === null
    ? []
    : [['ZADD', REDIS_KEYS.scopeEnds, at_ms, `${ending.organization_id} ${id}`]]
}

export const isKeyOrToken = (id: string): boolean => /^(key|tok)_/.test(id)

/** Null if it is gone or revoked, or if a newer version has stored it. */
export async function endingOf(
  redis: RedisClient,
  organization_id: string,
  id: string,
): Promise<Ending | null> {
  const of = id.startsWith('tok_') ? REDIS_KEYS.adminTokens : REDIS_KEYS.apiKeys
  const found = await readRecord<Ending>(redis, of(organization_id), id)
  return found === null || found.record.revoked_at ? null : found.record
}

export function causeOfEnd(id: string, ending: Ending): AlertCause {
  const { name, last4, expires_at, agent_id = null, email } = ending
  const isToken = id.startsWith('tok_')
  const kind = isToken ? 'token_expiring' : 'key_expiring'
  const what = isToken
    ? `admin token ${name} of ${email}`
    : `key ${name} (…${last4}) of ${agent_id === null ? 'the organization' : `agent ${agent_id}`}`
  return {
    about: `${kind} ${id}`,
    kind,
    severity: 'medium',
    title: `The ${what} ends at ${expires_at}. Calls with it are refused from then on: replace it.`,
    occurrence: { id, name, expires_at, of_agent: agent_id },
  }
}
