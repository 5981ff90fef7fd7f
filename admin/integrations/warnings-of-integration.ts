import { urlsOf } from '../../core/credential/urls-of.ts'
import { egressWarnings, type EgressRules } from '../../core/egress/egress-warnings.ts'
import { maskSecrets } from '../../core/masking/mask-secrets.ts'
import type { Integration } from '../../core/catalogue/model.ts'

const KEY_IN_URL =
  'base_url: the path seems to contain a key. A base URL is not encrypted, every role can read it, and the agent has to know it. Use a credential instead if the API accepts one.'

/**
 * What the egress filter would block of an integration (its API, and the endpoint that its token comes from), and a key
 * in its base URL, which is no secret member.
 */
export async function warningsOfIntegration(
  rules: EgressRules,
  { base_url, auth }: Pick<Integration, 'base_url' | 'auth'>,
): Promise<readonly string[]> {
  const credentialUrls = urlsOf(auth).map(([name, url]) => ({
    member: `auth.${name}`,
    url,
    is_call: false,
  }))
  const blocked = await egressWarnings(rules, [
    { member: 'base_url', url: base_url, is_call: true },
    ...credentialUrls,
  ])
  return maskSecrets(base_url) === base_url ? blocked : [...blocked, KEY_IN_URL]
}
