import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { openRoot, readStoredKeys, sealRoot } from '../../core/store/stored-keys.ts'
import type { SealedRecord, SealedStore } from './sealed-store.ts'

export const sealedArchiveKeys: SealedStore = {
  names: ['archive key', 'archive keys'],
  is_short_lived: false,
  records: recordsOf,
}

async function* recordsOf(redis: RedisClient): AsyncGenerator<SealedRecord> {
  const key = REDIS_KEYS.encryptionKeys
  for (const [key_id, stored] of await readStoredKeys(redis))
    yield {
      organization_id: '',
      id: key_id,
      sealed: [stored.archive_root],
      has_clear: false,
      reseal: (ring) => {
        const root = openRoot(ring, key_id, stored.archive_root)
        if (root === null) return null
        const resealed = { ...stored, archive_root: sealRoot(ring, key_id, root) }
        return {
          guards: [['HGET', key, key_id, JSON.stringify(stored)]],
          writes: [['HSET', key, key_id, JSON.stringify(resealed)]],
          targets: [],
        }
      },
    }
}
