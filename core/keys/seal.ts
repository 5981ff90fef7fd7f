import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { Secret } from './secret.ts'

/** Seals with the first key and opens with any, so that a new key can be put in front of the old one. */
export interface KeyRing {
  readonly primary_id: string
  readonly keys: ReadonlyMap<string, Buffer>
}

/**
 * Everything that is encrypted under the key ring. `admin/encryption/sealed-stores.ts` defines for each where it is stored and
 * how it is re-encrypted, so that a key rotation cannot miss one.
 */
export const SEALED_KINDS = [
  'credential',
  'connection_grant',
  'minted_token',
  'webhook_secret',
  'idempotent_answer',
  'archive_key',
  'forward_ca',
  'access_excerpt',
] as const
export type SealedKind = (typeof SEALED_KINDS)[number]

/** What a sealed value is bound to; a value that was moved elsewhere does not open (threat model, rule 4). */
export interface SealBinding {
  /** Where it is stored; null: nowhere. This is not part of the binding itself. */
  readonly stored_as: SealedKind | null
  readonly organization_id: string
  readonly owner_id: string
  /** The kind of the secret: `bearer.token`, `webhook.secret`. */
  readonly kind: string
  /** The canonical origins the secret may be sent to, joined by a space; empty if there are none. */
  readonly origin: string
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `text` is one key of 32 bytes in Base64, or several separated by commas, the newest first. */
export function parseKeyRing(text: string): KeyRing {
  const keys = new Map<string, Buffer>()
  for (const part of text.split(',')) {
    const key = Buffer.from(part.trim(), 'base64')
    if (key.length !== KEY_BYTES)
      throw new Error(
        'AGW_ENCRYPTION_KEY must be 32 bytes in Base64, or a comma-separated list of such keys',
      )
    keys.set(keyId(key), key)
  }
  const [primary_id] = keys.keys()
  if (primary_id === undefined) throw new Error('AGW_ENCRYPTION_KEY is empty')
  return { primary_id, keys }
}

/** AES-256-GCM; `v1.<key id>.<nonce>.<ciphertext and tag>`, each part Base64url. */
export function seal(ring: KeyRing, plaintext: string, binding: SealBinding): string {
  const key = ring.keys.get(ring.primary_id)
  if (key === undefined) throw new Error('the key ring has no primary key')
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(bindingBytes(binding))
  const body = Buffer.concat([
    cipher.update(plaintext, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  return `v1.${ring.primary_id}.${nonce.toString('base64url')}.${body.toString('base64url')}`
}

/** Null if the key is not in the ring, the text was changed, or it is bound to something else. */
export function unseal(ring: KeyRing, sealed: string, binding: SealBinding): Secret | null {
  const [version, key_id = '', nonceText = '', bodyText = ''] = sealed.split('.')
  const key = ring.keys.get(key_id)
  if (version !== 'v1' || key === undefined) return null
  const nonce = Buffer.from(nonceText, 'base64url')
  const body = Buffer.from(bodyText, 'base64url')
  if (nonce.length !== NONCE_BYTES || body.length < TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(bindingBytes(binding))
  decipher.setAuthTag(body.subarray(body.length - TAG_BYTES))
  try {
    const head = decipher.update(body.subarray(0, body.length - TAG_BYTES))
    return new Secret(Buffer.concat([head, decipher.final()]).toString('utf8'))
  } catch {
    return null
  }
}

/** The same value sealed with the primary key, and bound to `as`; null if it does not open. */
export function reseal(
  ring: KeyRing,
  sealed: string,
  binding: SealBinding,
  as: SealBinding = binding,
): string | null {
  const opened = unseal(ring, sealed, binding)
  return opened === null ? null : seal(ring, opened.reveal(), as)
}

/** Whether a text has the form of a sealed value, whatever the key. */
export const isSealed = (text: string): boolean =>
  /^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{22,}$/.test(text)

/** The id of the key with which a value is sealed, so that a rotation knows what is left. */
export const sealedUnder = (sealed: string): string | null => sealed.split('.')[1] ?? null

/** The public id of a key. It reveals nothing about the key. */
const keyId = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8)

function bindingBytes({ organization_id, owner_id, kind, origin }: SealBinding): Buffer {
  return Buffer.from(JSON.stringify([organization_id, owner_id, kind, origin]))
}
