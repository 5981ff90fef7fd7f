import { sealedExcerpt } from '../../core/approval/sealed-excerpt.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { scanNames } from '../../core/redis/scan-store.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

/** What approvers see of the calls that wait for them. */
export const sealedExcerpts: SealedStore = {
  names: ['access request', 'access requests'],
  is_short_lived: true,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  for (const organization_id of await redis.hkeys(REDIS_KEYS.organizations)) {
    const prefix = REDIS_KEYS.accessRequest(organization_id, '')
    for await (const key of scanNames(redis, prefix)) {
      const excerpt = await redis.hget(key, 'excerpt')
      if (excerpt === null) continue
      const request_id = key.slice(prefix.length)
      yield {
        organization_id,
        id: request_id,
        sealed: [excerpt],
        has_clear: false,
        reseal: (ring) => {
          const resealed = sealedExcerpt.reseal(ring, { organization_id, request_id }, excerpt)
          return resealed === null
            ? null
            : {
                guards: [['HGET', key, 'excerpt', excerpt]],
                // The time to live stays.
                writes: [['HSET', key, 'excerpt', resealed]],
                targets: [],
              }
        },
      }
    }
  }
}
