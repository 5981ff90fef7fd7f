import { archiveRoot } from '../../core/activity/archive-line.ts'
import { type Change, commit, type Guard, type Write } from '../../core/change/commit.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import type { KeyRing } from '../../core/keys/seal.ts'
import {
  activeKeyId,
  openRoot,
  sealRoot,
  type StoredKey,
  type StoredKeys,
} from '../../core/store/stored-keys.ts'

/**
 * Makes `key_id` the key that this deployment encrypts with. The key before it becomes `next_state`, and the archive roots
 * of all keys move under the new one, in the same change.
 * @returns whether it was done; false if the stored keys are no longer what was read
 */
export async function activateKey(
  redis: RedisClient,
  ring: KeyRing,
  stored: StoredKeys,
  {
    key_id,
    next_state,
    since,
    lease_ms,
  }: {
    readonly key_id: string
    readonly next_state: 'retired' | 'lost'
    readonly since: string
    readonly lease_ms: number
  },
): Promise<boolean> {
  const hash = REDIS_KEYS.encryptionKeys
  const sealing: KeyRing = { primary_id: key_id, keys: ring.keys }
  const active = activeKeyId(stored)
  // Of two processes that start on an empty store, one is first.
  const guards: Guard[] = [['HLEN', hash, '', String(stored.size)]]
  const writes: Write[] = []
  for (const id of new Set([key_id, ...stored.keys()])) {
    const before = stored.get(id)
    guards.push(['HGET', hash, id, before === undefined ? false : JSON.stringify(before)])
    const state = id === key_id ? 'active' : id === active ? next_state : before?.state
    const key: StoredKey = {
      state: state ?? 'known',
      since: state === before?.state ? (before?.since ?? since) : since,
      archive_root: rootOf(sealing, id, before),
    }
    writes.push(['HSET', hash, id, JSON.stringify(key)])
  }
  const change: Change = { guards, writes, targets: [] }
  return (await commit(redis, change, lease_ms)).kind === 'committed'
}

/** Empty where no key opens it any more: lines of the archive under that key cannot be verified then. */
function rootOf(ring: KeyRing, key_id: string, before: StoredKey | undefined): string {
  const key = ring.keys.get(key_id)
  const root = key === undefined ? null : archiveRoot(key)
  const opened = root ?? (before === undefined ? null : openRoot(ring, key_id, before.archive_root))
  return opened === null ? '' : sealRoot(ring, key_id, opened)
}
