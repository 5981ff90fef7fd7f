import { readFileSync } from 'node:fs'
import type { RedisClient } from '../redis/run-script.ts'
import type { KeyRing } from '../keys/seal.ts'
import type { Settings } from '../settings/settings.ts'
import { type Authority, openAuthority } from './open-authority.ts'
import { storedAuthority } from './stored-authority.ts'

/**
 * The CA of the forward proxy: that of the settings, else that of the store. Null if the store has none yet.
 * @throws (rejects) with a message for the operator when it cannot be used
 */
export async function loadAuthority(
  redis: RedisClient,
  ring: KeyRing,
  { caCertFile, caKeyFile }: Pick<Settings, 'caCertFile' | 'caKeyFile'>,
): Promise<Authority | null> {
  if (caCertFile !== null && caKeyFile !== null)
    return openAuthority({
      certificate: readFileSync(caCertFile, 'utf8'),
      key: readFileSync(caKeyFile, 'utf8'),
    })
  const text = await storedAuthority.text(redis)
  if (text === null) return null
  const files = storedAuthority.open(ring, text)
  if (files === null)
    throw new Error('the stored CA of the forward proxy does not open with AGW_ENCRYPTION_KEY')
  return openAuthority(files)
}
