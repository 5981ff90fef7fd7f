import { literalRefusal } from '../../core/egress/egress-warnings.ts'
import type { ApiKey, Scope } from '../../core/catalogue/model.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { compileScopes } from '../../core/decision/compile-scopes.ts'
import { compileLocks } from '../../core/decision/locks.ts'
import { closedHosts } from '../../core/decision/unlisted-hosts.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import { referencesIn } from '../../core/credential/secret-reference.ts'
import { openAuth, ownerOfConnection } from '../../core/store/credential-binding.ts'
import { isNewer } from '../../core/store/stored-record.ts'
import { mayNameIn } from '../integrations/check-auth.ts'
import type { AdminContext } from '../context/admin-context.ts'
import { explainCall, type Question } from './explain-call.ts'
import type { Explanation } from './explanation.ts'
import type { StoredPolicy } from './read-policy.ts'

type StoredQuestion = Pick<Question, 'method' | 'url' | 'headers' | 'body'> & {
  readonly at_ms: number
  readonly key?: ApiKey | null
  /** Default: by base URL. */
  readonly via?: 'base_url' | 'forward' | undefined
}

/** The decision on a call by what is stored, and what is known beforehand of its credential and address. */
export function explainStored(
  { ring, egress, settings }: Pick<AdminContext, 'ring' | 'egress' | 'settings'>,
  { agent, killed_at, scopes, integrations, connections, locks, unlisted_hosts }: StoredPolicy,
  { at_ms, key = null, via = 'base_url', ...call }: StoredQuestion,
  tried: readonly Scope[] = scopes,
): Explanation {
  const explanation = explainCall({
    ...call,
    agent: { agent, killed_at, scopes: compileScopes(tried) },
    integrations: compileIntegrations(integrations, connections),
    locks: compileLocks(locks),
    key,
    ...(via === 'forward'
      ? {
          unlisted: {
            by_default: unlisted_hosts,
            closed_hosts: closedHosts(settings.forwardBlindHosts, settings.proxyUrl),
          },
        }
      : {}),
    now_ms: at_ms,
  })
  const found = explanation.integration?.integration_id
  const integration = integrations.find(({ integration_id }) => integration_id === found)
  if (explanation.answer === 'refused' || integration === undefined) return explanation
  const { base_url } = integration
  const used = connections.find(
    ({ connection_id }) => connection_id === explanation.connection?.connection_id,
  )
  const owner = used === undefined ? integration : ownerOfConnection(integration, used)
  const auth = isNewer(integration) ? null : openAuth(ring, owner)
  const mayName = mayNameIn(settings.secretRefs, integration.organization_id)
  if (auth === null || !referencesIn(auth).every(mayName))
    return refused(explanation, 'credential_unavailable', { base_url })
  const cause = literalRefusal(egress, base_url)
  return cause === null
    ? explanation
    : refused(explanation, 'upstream_unreachable', { base_url, cause })
}

/** A call that its scopes allow, and that is refused later. */
const refused = (
  allowed: Explanation,
  error: Reason,
  details: Explanation['details'],
): Explanation => ({ ...allowed, answer: 'refused', error, details })
