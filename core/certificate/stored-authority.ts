import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { type KeyRing, reseal, type SealBinding, seal, sealedUnder, unseal } from '../seal.ts'
import type { AuthorityFiles } from './make-authority.ts'

/** The CA of the forward proxy as it is stored. */
export interface StoredAuthority {
  readonly certificate: string
  /** Encrypted with a key of the ring. */
  readonly sealed_key: string
}

const BINDING: SealBinding = {
  stored_as: 'forward_ca',
  organization_id: '',
  owner_id: 'forward',
  kind: 'forward.ca_key',
  origin: '',
}

/** The one field of the hash; a change can only be guarded by a field. */
const FIELD = 'ca'

export const storedAuthority = {
  field: FIELD,

  /** As it is stored, for a comparison; null before it is made. */
  text: (redis: RedisClient): Promise<string | null> => redis.hget(REDIS_KEYS.forwardCa, FIELD),

  seal: (ring: KeyRing, { certificate, key }: AuthorityFiles): string =>
    JSON.stringify({ certificate, sealed_key: seal(ring, key, BINDING) } satisfies StoredAuthority),

  /** Null if no key of the ring opens it. */
  open: (ring: KeyRing, text: string): AuthorityFiles | null => {
    const { certificate, sealed_key } = JSON.parse(text) as StoredAuthority
    const key = unseal(ring, sealed_key, BINDING)
    return key === null ? null : { certificate, key: key.reveal() }
  },

  /** The id of the key that encrypts it. */
  sealedUnder: (text: string): string =>
    sealedUnder((JSON.parse(text) as StoredAuthority).sealed_key) ?? '',

  /** The same encrypted with the primary key; null if no key of the ring opens it. */
  reseal: (ring: KeyRing, text: string): string | null => {
    const stored = JSON.parse(text) as StoredAuthority
    const sealed_key = reseal(ring, stored.sealed_key, BINDING)
    return sealed_key === null ? null : JSON.stringify({ ...stored, sealed_key })
  },
} as const
