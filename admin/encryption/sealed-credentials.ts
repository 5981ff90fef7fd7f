import { findCredentialType, secretMembers } from '../../core/credential/catalogue.ts'
import type { Integration } from '../../core/model.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanHash } from '../../core/redis/scan-store.ts'
import { isSealed } from '../../core/seal.ts'
import { resealAuth } from '../../core/store/credential-binding.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

export const sealedCredentials: SealedStore = {
  names: ['credential', 'credentials'],
  is_short_lived: false,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations)) {
    const key = REDIS_KEYS.integrations(organization_id)
    for await (const [id, text] of scanHash(redis, key)) {
      const integration = JSON.parse(text) as Integration
      yield {
        organization_id,
        id,
        ...sealingOf(integration),
        reseal: (ring) => {
          const auth = resealAuth(ring, integration)
          if (auth === null) return null
          return {
            guards: [['HGET', key, id, text]],
            writes: [['HSET', key, id, JSON.stringify({ ...integration, auth })]],
            targets: [{ what: 'integrations', organization_id }],
          }
        },
      }
    }
  }
}

function sealingOf({ auth }: Integration): Pick<SealedRecord, 'sealed' | 'has_clear'> {
  const members = auth as unknown as Readonly<Record<string, string | undefined>>
  const declared = findCredentialType(auth.type)?.members ?? {}
  const names = secretMembers(auth.type).filter((name) => members[name] !== undefined)
  const isClear = (name: string): boolean =>
    declared[name]?.was_public === true && !isSealed(members[name] ?? '')
  return {
    sealed: names.filter((name) => !isClear(name)).map((name) => members[name] ?? ''),
    has_clear: names.some(isClear),
  }
}
