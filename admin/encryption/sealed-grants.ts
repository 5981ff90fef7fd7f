import type { Connection, Integration } from '../../core/catalogue/model.ts'
import { type Grant, resealGrant, sealedTokens } from '../../core/oauth/grant.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanHash } from '../../core/redis/scan-store.ts'
import { ownerOfConnection } from '../../core/store/credential-binding.ts'
import { readableRecord } from '../../core/store/stored-record.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

/** The tokens of connections, which are sealed for the connection and the origins of its integration. */
export const sealedGrants: SealedStore = {
  names: ['grant', 'grants'],
  is_short_lived: false,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  for await (const [organization_id] of scanHash(redis, REDIS_KEYS.organizations)) {
    const key = REDIS_KEYS.grants(organization_id)
    for await (const [id, text] of scanHash(redis, key)) {
      const grant = JSON.parse(text) as Grant
      const owner = await ownerOf(redis, organization_id, id)
      if (owner === null) continue
      yield {
        organization_id,
        id,
        sealed: sealedTokens(grant),
        has_clear: false,
        reseal: (ring) => {
          const again = resealGrant(ring, owner, grant)
          return again === null
            ? null
            : {
                guards: [['HGET', key, id, text]],
                writes: [['HSET', key, id, JSON.stringify(again)]],
                targets: [],
              }
        },
      }
    }
  }
}

async function ownerOf(redis: RedisClient, organization_id: string, connection_id: string) {
  const text = await redis.hget(REDIS_KEYS.connections(organization_id), connection_id)
  const connection = text === null ? null : readableRecord<Connection>(text)
  if (connection === null) return null
  const of = await redis.hget(REDIS_KEYS.integrations(organization_id), connection.integration_id)
  const integration = of === null ? null : readableRecord<Integration>(of)
  return integration === null ? null : ownerOfConnection(integration, connection)
}
