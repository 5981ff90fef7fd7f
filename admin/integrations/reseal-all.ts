import { secretMembers } from '../../core/credential/catalogue.ts'
import type { Integration } from '../../core/model.ts'
import { commit } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type KeyRing, sealedUnder } from '../../core/seal.ts'
import { Secret } from '../../core/secret.ts'
import { openAuth, type PlainAuth, sealAuth } from '../../core/store/credential-binding.ts'

export interface Resealed {
  readonly resealed: number
  /** Integrations whose credential no key of the ring opens. */
  readonly unreadable: readonly string[]
}

/**
 * Seals every credential again that is not sealed under the primary key, so that an older key can be taken out of the
 * ring afterwards. A credential that changes meanwhile is left alone: whoever changed it sealed it anew.
 */
export async function resealAll(
  redis: RedisClient,
  ring: KeyRing,
  lease_ms: number,
): Promise<Resealed> {
  let resealed = 0
  const unreadable: string[] = []
  for (const org of await redis.hkeys(REDIS_KEYS.organizations)) {
    const integrations = REDIS_KEYS.integrations(org)
    for (const text of await redis.hvals(integrations)) {
      const integration = JSON.parse(text) as Integration
      if (!needsReseal(ring, integration)) continue
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
  return { resealed, unreadable }
}

function needsReseal(ring: KeyRing, { auth }: Integration): boolean {
  const members = auth as unknown as Readonly<Record<string, string | undefined>>
  return secretMembers(auth.type).some((member) => {
    const sealed = members[member]
    return sealed !== undefined && sealedUnder(sealed) !== ring.primary_id
  })
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
