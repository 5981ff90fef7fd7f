import { REDIS_KEYS } from '../redis/redis-keys.ts'
import type { RedisClient } from '../redis/run-script.ts'
import { type KeyRing, reseal, type SealBinding, seal, sealedUnder, unseal } from '../keys/seal.ts'
import type { AuthorityFiles } from './make-authority.ts'

/** A CA with its private key, encrypted with a key of the ring. */
export interface SealedAuthority {
  readonly certificate: string
  readonly sealed_key: string
}

/** The CA of the forward proxy as it is stored, and those that it replaces or that replace it. */
export interface StoredAuthority extends SealedAuthority {
  /** Clients are to trust it already; nothing is issued with it yet. */
  readonly next?: SealedAuthority
  /** The certificate of the one before, which clients may still be presented with. Its key is deleted. */
  readonly previous?: string
  /** When the step of a rotation was taken that is not the last; ISO 8601. */
  readonly since?: string
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

const parse = (text: string): StoredAuthority => JSON.parse(text) as StoredAuthority

const sealKey = (ring: KeyRing, { certificate, key }: AuthorityFiles): SealedAuthority => ({
  certificate,
  sealed_key: seal(ring, key, BINDING),
})

export const storedAuthority = {
  field: FIELD,
  parse,
  sealKey,

  /** As it is stored, for a comparison; null before it is made. */
  text: (redis: RedisClient): Promise<string | null> => redis.hget(REDIS_KEYS.forwardCa, FIELD),

  seal: (ring: KeyRing, files: AuthorityFiles): string => JSON.stringify(sealKey(ring, files)),

  /** What certificates are issued with. Null if no key of the ring opens it. */
  open: (ring: KeyRing, text: string): AuthorityFiles | null => {
    const { certificate, sealed_key } = parse(text)
    const key = unseal(ring, sealed_key, BINDING)
    return key === null ? null : { certificate, key: key.reveal() }
  },

  /** All certificates that clients must trust, the one in use first. */
  trusted: (text: string): string => {
    const { certificate, next, previous } = parse(text)
    return [certificate, next?.certificate, previous]
      .flatMap((pem) => (pem === undefined ? [] : [`${pem.trimEnd()}\n`]))
      .join('')
  },

  /** The id of the key that encrypts the one in use. */
  sealedUnder: (text: string): string => sealedUnder(parse(text).sealed_key) ?? '',

  /** Its encrypted values. */
  sealed: (text: string): readonly string[] => {
    const { sealed_key, next } = parse(text)
    return next === undefined ? [sealed_key] : [sealed_key, next.sealed_key]
  },

  /** The same encrypted with the primary key; null if no key of the ring opens one of them. */
  reseal: (ring: KeyRing, text: string): string | null => {
    const stored = parse(text)
    const sealed_key = reseal(ring, stored.sealed_key, BINDING)
    if (sealed_key === null) return null
    if (stored.next === undefined) return JSON.stringify({ ...stored, sealed_key })
    const next_key = reseal(ring, stored.next.sealed_key, BINDING)
    return next_key === null
      ? null
      : JSON.stringify({
          ...stored,
          sealed_key,
          next: { ...stored.next, sealed_key: next_key },
        } satisfies StoredAuthority)
  },
} as const
