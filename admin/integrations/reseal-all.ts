import { commit } from '../../core/change/commit.ts'
import { STORE_FORMAT } from '../../core/control/control-message.ts'
import { liveEdgeRecords } from '../../core/control/live-edge-records.ts'
import { findCredentialType, secretMembers } from '../../core/credential/catalogue.ts'
import type { Integration } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { isSealed, type KeyRing, sealedUnder } from '../../core/seal.ts'
import { Secret } from '../../core/secret.ts'
import { openAuth, type PlainAuth, sealAuth } from '../../core/store/credential-binding.ts'

export interface Resealed {
  readonly resealed: number
  /** Integrations whose credential no key of the ring opens. */
  readonly unreadable: readonly string[]
  /** Live edges that could not read a sealed user name; records with a clear one stay as they are for now. */
  readonly waits_for: readonly string[]
}

/**
 * Seals every credential again that is not sealed under the primary key, so that an older key can be taken out of the
 * ring afterwards, and every secret that an older version stored in the clear. Each record is replaced only if it is
 * still what was read: a credential that changes meanwhile was sealed by that change.
 */
export async function resealAll(
  redis: RedisClient,
  ring: KeyRing,
  lease_ms: number,
): Promise<Resealed> {
  const oldEdges = await edgesOfOldFormat(redis, lease_ms)
  let resealed = 0
  let isWaiting = false
  const unreadable: string[] = []
  for (const org of await redis.hkeys(REDIS_KEYS.organizations)) {
    const integrations = REDIS_KEYS.integrations(org)
    for (const text of await redis.hvals(integrations)) {
      const integration = JSON.parse(text) as Integration
      const state = sealingOf(ring, integration)
      if (state === 'current') continue
      if (state === 'clear' && oldEdges.length > 0) {
        isWaiting = true
        continue
      }
      const plain = plainAuth(ring, integration)
      if (plain === null) {
        unreadable.push(integration.integration_id)
        continue
      }
      const auth = sealAuth(ring, { ...integration, auth: plain })
      const updated = JSON.stringify({ ...integration, auth })
      const committed = await commit(
        redis,
        {
          guards: [['HGET', integrations, integration.integration_id, text]],
          writes: [['HSET', integrations, integration.integration_id, updated]],
          targets: [{ what: 'integrations', organization_id: org }],
        },
        lease_ms,
      )
      if (committed.kind === 'committed') resealed++
    }
  }
  return { resealed, unreadable, waits_for: isWaiting ? oldEdges : [] }
}

async function edgesOfOldFormat(redis: RedisClient, lease_ms: number): Promise<string[]> {
  const edges = await liveEdgeRecords(redis, lease_ms)
  return edges
    .filter(({ record }) => (record.store_format ?? 1) < STORE_FORMAT)
    .map(({ process_id }) => process_id)
}

/** `clear`: a member that has become a secret is stored as an older version wrote it. */
function sealingOf(ring: KeyRing, { auth }: Integration): 'current' | 'older_key' | 'clear' {
  const members = auth as unknown as Readonly<Record<string, string | undefined>>
  const declared = findCredentialType(auth.type)?.members ?? {}
  const names = secretMembers(auth.type).filter((name) => members[name] !== undefined)
  if (names.some((name) => declared[name]?.was_public && !isSealed(members[name] ?? '')))
    return 'clear'
  const texts = names.map((name) => members[name] ?? '')
  return texts.every((text) => sealedUnder(text) === ring.primary_id) ? 'current' : 'older_key'
}

function plainAuth(ring: KeyRing, integration: Integration): PlainAuth | null {
  const opened = openAuth(ring, integration)
  if (opened === null) return null
  const plain = Object.entries(opened).map(([name, value]: [string, unknown]) => [
    name,
    value instanceof Secret ? value.reveal() : value,
  ])
  return Object.fromEntries(plain) as PlainAuth
}
