import { makeAuthority } from '../../core/certificate/make-authority.ts'
import { storedAuthority } from '../../core/certificate/stored-authority.ts'
import { commit } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import type { Settings } from '../../core/settings/settings.ts'

/** Makes the CA of the forward proxy where it is needed and the store has none. Of several processes, one makes it. */
export async function keepAuthority(
  redis: RedisClient,
  ring: KeyRing,
  settings: Pick<Settings, 'forwardPort' | 'caCertFile' | 'killLease_ms' | 'lostEncryptionKeys'>,
  now: Date,
): Promise<void> {
  const { forwardPort, caCertFile, killLease_ms, lostEncryptionKeys } = settings
  if (forwardPort === null || caCertFile !== null) return
  const text = await storedAuthority.text(redis)
  // Its key is lost with the one that encrypts it, so clients have to trust a new CA.
  const isLost = text !== null && lostEncryptionKeys.includes(storedAuthority.sealedUnder(text))
  if (text !== null && !isLost) return
  const key = REDIS_KEYS.forwardCa
  const { field } = storedAuthority
  const sealed = storedAuthority.seal(ring, makeAuthority(now.getTime()))
  await commit(
    redis,
    {
      guards: [['HGET', key, field, text ?? false]],
      writes: [['HSET', key, field, sealed]],
      targets: [],
    },
    killLease_ms,
  )
}
