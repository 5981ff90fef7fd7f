import { findCredentialType } from '../../core/credential/catalogue.ts'
import { egressWarnings, type EgressRules } from '../../core/egress/egress-warnings.ts'
import type { Integration } from '../../core/model.ts'

/** Warnings for the base URL and token URL that the egress filter would refuse. */
export function warningsOfIntegration(
  rules: EgressRules,
  { base_url, auth }: Pick<Integration, 'base_url' | 'auth'>,
): Promise<readonly string[]> {
  const given = auth as Readonly<Record<string, string | undefined>>
  const credentialUrls = Object.entries(findCredentialType(auth.type)?.members ?? {}).flatMap(
    ([name, { text }]) => {
      const url = given[name]
      return text === 'url' && url !== undefined
        ? [{ member: `auth.${name}`, url, is_call: false }]
        : []
    },
  )
  return egressWarnings(rules, [
    { member: 'base_url', url: base_url, is_call: true },
    ...credentialUrls,
  ])
}
