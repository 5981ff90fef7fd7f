import type { AddressPolicy } from '../../core/egress/address-policy.ts'
import { isHiddenUrl } from './hide-webhook-url.ts'
import { parseUrl } from '../../core/bounded/parse-url.ts'

export const URL_LENGTH_LIMIT = 2048

/** Why a URL cannot be that of a webhook; null when it can. What its name resolves to is judged when it is connected. */
export function checkWebhookUrl(text: string, policy: AddressPolicy): string | null {
  // WHATWG parsing drops tabs, line ends and outer blanks silently; what is stored is what was judged.
  if (!/^[^\s\p{Cc}\\]+$/u.test(text))
    return 'contains white space, control characters or a backslash'
  const url = parseUrl(text)
  if (url === null) return 'is not an absolute URL'
  if (url.protocol !== 'https:') return 'must begin with https://'
  if (!/^https:\/\/[^/]/i.test(text)) return 'must begin with https:// and a host'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (url.hash !== '' || text.includes('#')) return 'must not have a fragment'
  if (isHiddenUrl(text)) return 'is masked; provide the complete URL'
  const refusal = policy.refusalOfHost(url.hostname)
  return refusal === null ? null : `points to an address that is not public (${refusal})`
}
