import type { AddressPolicy } from '../../core/egress/address-policy.ts'
import type { Issue } from '../http/outcome.ts'
import { checkWebhookSecret } from './check-webhook-secret.ts'
import { checkWebhookUrl } from './check-webhook-url.ts'

/** What a schema cannot express of the URL and the secret of a webhook. */
export function issuesOfWebhook(
  { url, secret }: { readonly url: string; readonly secret?: string | null | undefined },
  policy: AddressPolicy,
): readonly Issue[] {
  const problems = [
    ['/url', checkWebhookUrl(url, policy)],
    ['/secret', secret == null ? null : checkWebhookSecret(secret)],
  ] as const
  return problems.flatMap(([path, message]) => (message === null ? [] : [{ path, message }]))
}
