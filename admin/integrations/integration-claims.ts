import type { Guard, Write } from '../../core/change/commit.ts'
import type { Integration } from '../../core/catalogue/model.ts'
import { originsWithCredential } from '../../core/decision/also-hosts.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { conflict, type Refusal } from '../http/outcome.ts'

/** What the index of base URLs has to become with a change, if nothing in it is another integration's. */
export interface ClaimChanges {
  readonly key: string
  readonly added: readonly string[]
  readonly guards: readonly Guard[]
  readonly writes: readonly Write[]
}

const CREDENTIAL = 'credential '

/** What no two integrations of an organization share: the base URL, and each further host that gets the credential. */
const claimsOf = (integration: Integration | null): readonly string[] =>
  integration === null
    ? []
    : [
        integration.base_url,
        ...originsWithCredential(integration).map((origin) => CREDENTIAL + origin),
      ]

/** @param before null for a new integration; `after` is null for one that is deleted */
export function claimChanges(before: Integration | null, after: Integration | null): ClaimChanges {
  const { organization_id = '', integration_id = '' } = after ?? before ?? {}
  const key = REDIS_KEYS.integrationBaseUrls(organization_id)
  const [old, now] = [claimsOf(before), claimsOf(after)]
  const added = now.filter((claim) => !old.includes(claim))
  const dropped = old.filter((claim) => !now.includes(claim))
  return {
    key,
    added,
    guards: added.map((claim): Guard => ['HGET', key, claim, false]),
    writes: [
      ...dropped.map((claim): Write => ['HDEL', key, claim]),
      ...added.map((claim): Write => ['HSET', key, claim, integration_id]),
    ],
  }
}

/** Null if nothing that is added is another integration's. */
export async function findTakenClaim(
  redis: RedisClient,
  { key, added }: ClaimChanges,
): Promise<Refusal | null> {
  if (added.length === 0) return null
  const holders = await redis.hmget(key, ...added)
  const at = holders.findIndex((holder) => holder !== null)
  if (at < 0) return null
  const details = { integration_id: holders[at] }
  return added[at]?.startsWith(CREDENTIAL) === true
    ? conflict(
        'also_host_taken',
        `Another integration sends its credential to ${added[at].slice(CREDENTIAL.length)}. Remove that entry, or list the host without the credential.`,
        details,
      )
    : conflict(
        'base_url_taken',
        'Another integration has this base URL. Change that one, or use another base URL.',
        details,
      )
}
