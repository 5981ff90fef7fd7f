import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import { activeKeyId, keyMismatch, readStoredKeys } from '../../core/store/stored-keys.ts'
import { countSealed } from './count-sealed.ts'
import { missingKey } from './key-sentences.ts'

/**
 * Before anything is written to the store: a process with a wrong key must not make it the key of this deployment.
 * @param lost ids of keys of which the operator said that they are lost
 * @throws a sentence for the operator when the ring lacks a key that the store needs
 */
export async function refuseMissingKeys(
  redis: RedisClient,
  ring: KeyRing,
  lost: readonly string[],
): Promise<void> {
  const stored = await readStoredKeys(redis)
  const mismatch = lost.includes(activeKeyId(stored) ?? '') ? null : keyMismatch(ring, stored)
  if (mismatch !== null) throw new Error(mismatch)
  for (const [key_id, row] of await countSealed(redis, 'lasting'))
    if (!ring.keys.has(key_id) && !lost.includes(key_id)) throw new Error(missingKey(key_id, row))
}
