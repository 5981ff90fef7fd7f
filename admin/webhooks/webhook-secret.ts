import { randomBytes } from 'node:crypto'
import { type KeyRing, reseal, type SealBinding, seal, unseal } from '../../core/seal.ts'
import type { Secret } from '../../core/secret.ts'
import type { Webhook } from './webhook.ts'

type Owner = Pick<Webhook, 'organization_id' | 'webhook_id'>

/** `whsec_` and 32 random bytes in Base64, the form of the Standard Webhooks specification. */
export const mintSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

export const sealSecret = (ring: KeyRing, owner: Owner, text: string): string =>
  seal(ring, text, bindingOf(owner))

/** The secrets that sign now, the current one first; null if one cannot be decrypted. */
export function openSecrets(ring: KeyRing, webhook: Webhook, now: Date): readonly Secret[] | null {
  const sealed = webhook.secret === null ? [] : [webhook.secret]
  const { previous_secret } = webhook
  if (previous_secret !== null && Date.parse(previous_secret.until) > now.getTime())
    sealed.push(previous_secret.sealed)
  const opened = sealed.map((text) => unseal(ring, text, bindingOf(webhook)))
  return opened.every((secret) => secret !== null) ? opened : null
}

/**
 * The same webhook with its secrets under the primary key; null when one does not open. The former secret too, also after
 * its time, so that nothing needs the old key.
 */
export function resealSecrets(ring: KeyRing, webhook: Webhook): Webhook | null {
  const again = (sealed: string): string | null => reseal(ring, sealed, bindingOf(webhook))
  const { previous_secret } = webhook
  const secret = webhook.secret === null ? null : again(webhook.secret)
  const previous = previous_secret === null ? null : again(previous_secret.sealed)
  if (webhook.secret !== null && secret === null) return null
  if (previous_secret === null) return { ...webhook, secret }
  return previous === null
    ? null
    : { ...webhook, secret, previous_secret: { ...previous_secret, sealed: previous } }
}

/** No origin: the secret is never sent, and a change of the URL keeps it. */
const bindingOf = ({ organization_id, webhook_id }: Owner): SealBinding => ({
  stored_as: 'webhook_secret',
  organization_id,
  owner_id: webhook_id,
  kind: 'webhook.secret',
  origin: '',
})
