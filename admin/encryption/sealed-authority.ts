import { storedAuthority } from '../../core/certificate/stored-authority.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

export const sealedAuthority: SealedStore = {
  names: ['key of the CA of the forward proxy', 'keys of CAs of the forward proxy'],
  is_short_lived: false,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  const { field } = storedAuthority
  const key = REDIS_KEYS.forwardCa
  const text = await storedAuthority.text(redis)
  if (text === null) return
  yield {
    organization_id: '',
    id: field,
    sealed: storedAuthority.sealed(text),
    has_clear: false,
    reseal: (ring) => {
      const resealed = storedAuthority.reseal(ring, text)
      return resealed === null
        ? null
        : {
            guards: [['HGET', key, field, text]],
            writes: [['HSET', key, field, resealed]],
            targets: [],
          }
    },
  }
}
