import { egressWarnings, type EgressRules } from '../../core/egress/egress-warnings.ts'

/** What the egress filter would refuse of a webhook's URL, whose deliveries would all fail. */
export const warningsOfWebhook = (rules: EgressRules, url: string): Promise<readonly string[]> =>
  egressWarnings(rules, [{ member: 'url', url, is_call: false }])
