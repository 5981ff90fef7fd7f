import type { Reason } from '../catalogue/reasons.ts'
import { FORBIDDEN_METHODS } from '../decision/choose-scope.ts'
import { maskSecrets } from '../masking/mask-secrets.ts'
import type { Target } from '../request/parse-target.ts'
import { shortText } from '../system/short-text.ts'

interface Refused {
  readonly reason: Reason
  readonly details: Readonly<Record<string, unknown>>
}

/** Where agents ask for access, and for the state of their requests. */
export const REQUESTS_PATH = '/.well-known/agw/me/requests'
/** Where they see what they may call, with the tools. */
export const SCOPES_PATH = '/.well-known/agw/me/scopes'
const URL_SHOWN_MAX = 2_000

/**
 * Whether access can be asked for: nothing but a missing rule or integration stands against the call. A rule for the method and the
 * path would not allow what else a call names.
 */
export const isAskable = ({ reason, details }: Refused, method: string): boolean =>
  !FORBIDDEN_METHODS.includes(method.toUpperCase()) &&
  (reason === 'permission_denied' || reason === 'integration_not_found') &&
  !('override' in details || 'batch' in details)

/**
 * `details.access_request` of a refusal for which access can be asked, as AuthZEN has it; the same whether or not there is an
 * integration. Null for any other.
 * @param gateway_url how the caller reaches the gateway; empty if it addresses the API itself
 */
export function accessHint(
  gateway_url: string,
  refused: Refused,
  method: string,
  target: Pick<Target, 'origin' | 'raw_path'> | null,
): object | null {
  if (target === null || !isAskable(refused, method)) return null
  const url = shortText(maskSecrets(`${target.origin}${target.raw_path}`), URL_SHOWN_MAX)
  return {
    endpoint: `${gateway_url}${REQUESTS_PATH}`,
    template: { kind: 'access', method, url, justification: '' },
    display: 'A person can allow this call for a time.',
  }
}
