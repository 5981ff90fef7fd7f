import { createHash, randomBytes } from 'node:crypto'
import {
  isSealed,
  type KeyRing,
  reseal,
  type SealBinding,
  seal,
  unseal,
} from '../../core/keys/seal.ts'
import type { Secret } from '../../core/keys/secret.ts'
import type { Webhook } from './webhook.ts'

type Owner = Pick<Webhook, 'organization_id' | 'webhook_id'>

/** `whsec_` and 32 random bytes in Base64, the form of the Standard Webhooks specification. */
export const mintSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

export const sealSecret = (ring: KeyRing, owner: Owner, text: string): string =>
  seal(ring, text, bindingOf(owner, 'secret'))

/** A URL can be the secret of its receiver, as those of Slack and Teams are. */
export const sealUrl = (ring: KeyRing, owner: Owner, url: string): string =>
  seal(ring, url, bindingOf(owner, 'url'))

/** Also of a URL that an older version stored unencrypted; null if it cannot be decrypted. */
export function openUrl(ring: KeyRing, webhook: Webhook): string | null {
  if (!isSealed(webhook.url)) return webhook.url
  return unseal(ring, webhook.url, bindingOf(webhook, 'url'))?.reveal() ?? null
}

/** The secrets that sign now, the current one first; null if one cannot be decrypted. */
export function openSecrets(ring: KeyRing, webhook: Webhook, now: Date): readonly Secret[] | null {
  const sealed = webhook.secret === null ? [] : [webhook.secret]
  const { previous_secret } = webhook
  if (previous_secret !== null && Date.parse(previous_secret.until) > now.getTime())
    sealed.push(previous_secret.sealed)
  const opened = sealed.map((text) => unseal(ring, text, bindingOf(webhook, 'secret')))
  return opened.every((secret) => secret !== null) ? opened : null
}

const SECRET_ID_LENGTH = 16

/** Tells sealed secrets apart. It is made from the ciphertext, so it says nothing about the secret. */
export const secretId = (sealed: string): string =>
  createHash('sha256').update(sealed).digest('hex').slice(0, SECRET_ID_LENGTH)

/** The secrets that signed an attempt, the then current one first; null if they have changed since or do not open. */
export function secretsOf(
  ring: KeyRing,
  webhook: Webhook,
  { secret_id }: { readonly secret_id: string | null },
  at: Date,
): readonly Secret[] | null {
  if (secret_id === null) return []
  const { secret, previous_secret } = webhook
  if (secret !== null && secretId(secret) === secret_id) return openSecrets(ring, webhook, at)
  if (previous_secret === null || secretId(previous_secret.sealed) !== secret_id) return null
  return openSecrets(
    ring,
    { ...webhook, secret: previous_secret.sealed, previous_secret: null },
    at,
  )
}

/**
 * The same webhook with its URL and secrets under the primary key; null when one does not open. The former secret too,
 * also after its time, so that nothing needs the old key.
 */
export function resealSecrets(ring: KeyRing, webhook: Webhook): Webhook | null {
  const again = (sealed: string): string | null =>
    reseal(ring, sealed, bindingOf(webhook, 'secret'))
  const { previous_secret } = webhook
  const opened = openUrl(ring, webhook)
  const secret = webhook.secret === null ? null : again(webhook.secret)
  const previous = previous_secret === null ? null : again(previous_secret.sealed)
  if (opened === null || (webhook.secret !== null && secret === null)) return null
  const url = sealUrl(ring, webhook, opened)
  if (previous_secret === null) return { ...webhook, url, secret }
  return previous === null
    ? null
    : { ...webhook, url, secret, previous_secret: { ...previous_secret, sealed: previous } }
}

/** No origin: the secret is never sent, and a change of the URL keeps it. */
const bindingOf = (
  { organization_id, webhook_id }: Owner,
  member: 'secret' | 'url',
): SealBinding => ({
  stored_as: 'webhook_secret',
  organization_id,
  owner_id: webhook_id,
  kind: `webhook.${member}`,
  origin: '',
})
