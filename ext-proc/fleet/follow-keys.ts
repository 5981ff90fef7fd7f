import { setTimeout as wait } from 'node:timers/promises'
import { followKeyFile } from '../../core/keys/follow-key-file.ts'
import type { LiveKeyRing } from '../../core/keys/live-key-ring.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { activeKeyId, readStoredKeys } from '../../core/store/stored-keys.ts'

const LOOK_INTERVAL_MS = 1_000

/**
 * Follows the key file, and encrypts with the key that the deployment uses: the first key of the setting, from the moment when the
 * admin service has put it into use. Until then the store is asked once a second.
 * @param onKeys is called with each change of the file
 * @returns what tells the ids of the keys in the setting
 */
export function followKeys(
  file: string | null,
  keyRing: LiveKeyRing,
  redis: RedisClient,
  onKeys: () => void,
): () => readonly string[] {
  let key_ids: readonly string[] = [...keyRing.keys.keys()]
  let isWaiting = false
  const isFirstInUse = async (): Promise<boolean> => {
    const active = activeKeyId(await readStoredKeys(redis))
    if (active !== null && keyRing.keys.has(active)) keyRing.use(active)
    return active === key_ids[0]
  }
  const useActive = async (): Promise<void> => {
    if (isWaiting) return
    isWaiting = true
    while (!(await isFirstInUse().catch(() => false)))
      await wait(LOOK_INTERVAL_MS, undefined, { ref: false })
    isWaiting = false
  }
  void useActive()
  followKeyFile(file, async (ring) => {
    // A key that was taken out may still be needed by something that is cached or read now; it is kept until the next start.
    keyRing.add(ring)
    key_ids = [...ring.keys.keys()]
    onKeys()
    void useActive()
  })
  return () => key_ids
}
