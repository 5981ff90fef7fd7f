import { REDIS_KEYS } from '../redis/redis-keys.ts'
import { type RedisClient, runScript } from '../redis/run-script.ts'
import { type Grant, refreshFrom } from './grant.ts'

/** Which connection. */
export interface GrantPlace {
  readonly organization_id: string
  readonly connection_id: string
}

/** A grant as it was read, with the time of the store. */
export interface ReadGrant {
  readonly grant: Grant | null
  /** As it is stored; empty if there is none. */
  readonly text: string
  readonly now_ms: number
}

export const dueMember = ({ organization_id, connection_id }: GrantPlace): string =>
  `${organization_id} ${connection_id}`

/** @throws if the store is unavailable */
export async function readGrant(redis: RedisClient, place: GrantPlace): Promise<ReadGrant> {
  const { organization_id, connection_id } = place
  const [text, [seconds, micros]] = await Promise.all([
    redis.hget(REDIS_KEYS.grants(organization_id), connection_id),
    redis.time(),
  ])
  return {
    grant: text === null ? null : (JSON.parse(text) as Grant),
    text: text ?? '',
    now_ms: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000),
  }
}

/**
 * Replaces a grant that is still as it was read.
 * @param next null removes it
 * @returns its text; null if it has changed meanwhile
 */
export async function swapGrant(
  redis: RedisClient,
  place: GrantPlace,
  text: string,
  next: Grant | null,
): Promise<string | null> {
  const { organization_id, connection_id } = place
  const written = next === null ? '' : JSON.stringify(next)
  const swapped = await runScript(
    redis,
    'swap-grant',
    [REDIS_KEYS.grants(organization_id), REDIS_KEYS.grantsDue],
    [connection_id, text, written, dueMember(place), next === null ? '' : dueOf(next)],
  )
  return swapped === 1 ? written : null
}

/** A grant with nothing to refresh it by is looked at once, to plan the alert about its end. */
export const dueOf = (grant: Grant): number =>
  grant.refresh_token === null
    ? Math.ceil(grant.issued_ms)
    : Math.ceil(Math.max(refreshFrom(grant), grant.retry_ms))
