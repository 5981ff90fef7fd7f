import type { AddressPolicy } from '../../core/egress/address-policy.ts'
import type { Issue } from '../http/outcome.ts'
import { checkAuthorities } from '../http/read-certificates.ts'
import { checkWebhookSecret } from './check-webhook-secret.ts'
import { checkWebhookUrl } from './check-webhook-url.ts'

/** What a schema cannot express of a webhook. */
export function issuesOfWebhook(
  {
    url,
    secret,
    ca_certificates,
  }: {
    readonly url: string
    readonly secret?: string | null | undefined
    readonly ca_certificates?: string | null | undefined
  },
  policy: AddressPolicy,
): readonly Issue[] {
  const problems = [
    ['/url', checkWebhookUrl(url, policy)],
    ['/secret', secret == null ? null : checkWebhookSecret(secret)],
    ['/ca_certificates', ca_certificates == null ? null : checkAuthorities(ca_certificates)],
  ] as const
  return problems.flatMap(([path, message]) => (message === null ? [] : [{ path, message }]))
}
