import { timingSafeEqual } from 'node:crypto'
import { archiveRoot } from '../activity/archive-line.ts'
import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { type KeyRing, type SealBinding, seal, unseal } from '../keys/seal.ts'

/** An encryption key as recorded in the store: its id, and the part of it that the archive needs, encrypted. */
export interface StoredKey {
  /**
   * `active` encrypts (one key). `known`: given to a process, not used yet. `retired`: was active; it never becomes active
   * again. `lost`: the operator has declared that it no longer exists.
   */
  readonly state: 'active' | 'known' | 'retired' | 'lost'
  /** Since when it has this state (ISO 8601). */
  readonly since: string
  /** The root of the archive keys (`archiveRoot`), encrypted with the active key, in hexadecimal before that. */
  readonly archive_root: string
}

export type StoredKeys = ReadonlyMap<string, StoredKey>

export async function readStoredKeys(redis: RedisClient): Promise<StoredKeys> {
  const fields = await redis.hgetall(REDIS_KEYS.encryptionKeys)
  return new Map(
    Object.entries(fields).map(([key_id, text]) => [key_id, JSON.parse(text) as StoredKey]),
  )
}

/** The id of the key with which the deployment encrypts; null before its first start. */
export const activeKeyId = (stored: StoredKeys): string | null =>
  [...stored].find(([, { state }]) => state === 'active')?.[0] ?? null

const rootBinding = (key_id: string): SealBinding => ({
  stored_as: 'archive_key',
  organization_id: '',
  owner_id: key_id,
  kind: 'archive.root',
  origin: '',
})

export const sealRoot = (ring: KeyRing, key_id: string, root: Buffer): string =>
  seal(ring, root.toString('hex'), rootBinding(key_id))

/** Null if no key of the ring opens it. */
export function openRoot(ring: KeyRing, key_id: string, sealed: string): Buffer | null {
  const opened = unseal(ring, sealed, rootBinding(key_id))
  return opened === null ? null : Buffer.from(opened.reveal(), 'hex')
}

/**
 * Why a process with this ring must not serve this store, as a sentence for the operator; null if it may. The stored root
 * proves that the keys are equal, not only their ids.
 */
export function keyMismatch(ring: KeyRing, stored: StoredKeys): string | null {
  const active = activeKeyId(stored)
  if (active === null) return null
  const key = ring.keys.get(active)
  const sealed = stored.get(active)?.archive_root ?? ''
  const root = openRoot(ring, active, sealed)
  if (key !== undefined && root !== null && timingSafeEqual(root, archiveRoot(key))) return null
  const own = [...ring.keys.keys()].join(', ')
  return `This store is encrypted with key ${active}, which AGW_ENCRYPTION_KEY lacks (it has ${own}). Set it to the value that the other processes have, or correct REDIS_URL. If the key is lost: docs/guides/credentials.md#a-lost-encryption-key.`
}
