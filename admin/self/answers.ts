import { accessHint } from '../../core/approval/access-hint.ts'
import { type Integration, type Lock, SELECTED, type Scope } from '../../core/catalogue/model.ts'
import { baseUrlOfTarget } from '../../core/request/base-url-of-target.ts'
import { endOfLock } from '../../core/decision/locks.ts'
import { parseTarget, type Target } from '../../core/request/parse-target.ts'
import { matchesSelector } from '../../core/decision/selector.ts'
import { type Reason, REASONS } from '../../core/catalogue/reasons.ts'
import { searchActivity } from '../activity/search-activity.ts'
import type { AdminContext } from '../context/admin-context.ts'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { parseUrl } from '../../core/bounded/parse-url.ts'
import { METHOD_PATTERN, URL_LENGTH_MAX } from '../try/explain-call.ts'
import { explainStored } from '../try/explain-stored.ts'
import type { AskingAgent } from './agent-of-key.ts'

/** Refusals that are listed. */
const DENIALS_MAX = 100

/** The agent, as it may know itself: nothing of other agents and nothing that only operators see. */
export function describeSelf({ key, policy }: AskingAgent, now_ms: number): object {
  const { agent_id, agent_name, status, labels = {} } = policy.agent
  const { key_id, expires_at } = key
  const scope_ids = policy.scopes.map(({ scope_id }) => scope_id)
  const concerns = ({ target }: Lock): boolean => {
    if ('agent_id' in target) return target.agent_id === agent_id
    if ('key_id' in target) return target.key_id === key_id
    if ('scope_id' in target) return scope_ids.includes(target.scope_id)
    if ('integration_id' in target)
      return policy.integrations.some(
        (one) =>
          one.integration_id === target.integration_id &&
          policy.scopes.some((scope) => isOf(scope, one)),
      )
    return 'agent_selector' in target ? matchesSelector(target.agent_selector, labels) : true
  }
  const locks = policy.locks
    .filter((lock) => endOfLock(lock) > now_ms && concerns(lock))
    .map(({ lock_id, mode, message, expires_at: end }) => ({
      lock_id,
      mode,
      message,
      expires_at: end,
    }))
  return { agent_id, agent_name, status, labels, key: { key_id, expires_at }, locks }
}

/** Of the answer, about: a scope that selects by labels repeats its rules for each integration. */
const ACCESS_MAX_CHARACTERS = 1_048_576

/** What the agent may call: one item for each scope and integration. No credentials. */
export function listAccess({ policy }: AskingAgent, proxy_url: string): object {
  const data: object[] = []
  let left = ACCESS_MAX_CHARACTERS
  for (const scope of policy.scopes) {
    if (scope.grant?.kind === 'call') continue
    const { length } = JSON.stringify([scope.rules, scope.mcp_tools])
    for (const integration of policy.integrations) {
      if (!isOf(scope, integration)) continue
      left -= length + integration.base_url.length
      if (left < 0) return { data, complete: false }
      data.push(accessOf(scope, integration, proxy_url))
    }
  }
  return { data, complete: true }
}

const isOf = (
  { integration_id, integration_selector }: Scope,
  integration: Pick<Integration, 'integration_id' | 'labels'>,
): boolean =>
  integration_id === SELECTED
    ? matchesSelector(integration_selector, integration.labels)
    : integration_id === integration.integration_id

function accessOf(scope: Scope, { name, base_url }: Integration, proxy_url: string): object {
  return {
    scope: scope.name,
    integration: name,
    base_url,
    call: `${proxy_url}/${base_url}`,
    rules: scope.rules,
    mcp_tools: scope.mcp_tools,
    requests_per_minute: scope.rate_limiting.requests_per_minute,
    max_body_bytes: scope.max_body_bytes,
    not_before: scope.not_before ?? null,
    expires_at: scope.expires_at ?? null,
  }
}

export interface CheckedCall {
  readonly answer: 'allowed' | 'refused'
  readonly error: Reason | null
  readonly details: Readonly<Record<string, unknown>>
  readonly message: string | null
}

const METHOD = new RegExp(METHOD_PATTERN)
export const CALL_MESSAGE =
  'method must be an HTTP method, and url an absolute URL of at most 16,384 characters.'
const APPROVAL_MESSAGE =
  'A person has to allow this call. Make it: unless one already has, it is refused with approval_required.'

/**
 * How a call would be decided. An integration for which the agent has no scope looks like none, since its existence is nothing that
 * the agent needs to know.
 * @returns null if these are no method and URL
 */
export function checkCall(
  context: Pick<AdminContext, 'ring' | 'egress' | 'now' | 'settings'>,
  { policy, key }: AskingAgent,
  { method, url }: Readonly<Record<string, unknown>>,
  proxy_url: string,
): CheckedCall | null {
  if (typeof method !== 'string' || !METHOD.test(method)) return null
  if (typeof url !== 'string' || url.length > URL_LENGTH_MAX) return null
  const question = { method, url, key, at_ms: context.now().getTime() }
  const { scopes } = policy
  const integrations = policy.integrations.filter((one) => scopes.some((scope) => isOf(scope, one)))
  // As if there were no others. What is refused with these alone is refused with all, and says nothing of the others.
  const seen = explainStored(context, { ...policy, integrations }, question)
  const isWhole = seen.answer === 'refused' || integrations.length === policy.integrations.length
  const found = isWhole ? seen : explainStored(context, policy, question)
  if (found.answer === 'allowed') {
    const { approval } = found
    const allowed = { answer: 'allowed', error: null } as const
    return approval === null
      ? { ...allowed, details: {}, message: null }
      : {
          ...allowed,
          details: { approval: { needed: approval.needed } },
          message: APPROVAL_MESSAGE,
        }
  }
  // A hidden one lies within one that the agent sees.
  const named = found.integration?.integration_id
  const isHidden =
    named !== undefined && !integrations.some(({ integration_id }) => integration_id === named)
  const error = (isHidden ? 'integration_not_found' : found.error) as Reason
  const target = targetOf(url)
  const known = isHidden
    ? { base_url: target === null ? '' : baseUrlOfTarget(target) }
    : found.details
  const access_request = accessHint(proxy_url, { reason: error, details: known }, method, target)
  const details = access_request === null ? known : { ...known, access_request }
  return { answer: 'refused', error, details, message: REASONS[error].message }
}

function targetOf(url: string): Target | null {
  const parsed = parseTarget(`/${Buffer.from(url).toString('latin1')}`)
  return parsed.ok ? parsed.target : null
}

/** The newest refusals of the agent's own calls. A slow search ends early. */
export async function listDenials(
  context: Pick<AdminContext, 'redis' | 'nowMs'>,
  { organization_id, policy }: AskingAgent,
): Promise<object> {
  const filter = {
    equal: [
      ['agent_id', policy.agent.agent_id],
      ['decision', 'blocked'],
    ],
    request_id: null,
    q: null,
    from_ms: null,
    to_ms: null,
  } as const
  const page = { before: null, limit: DENIALS_MAX }
  const { found } = await searchActivity(context, organization_id, filter, page)
  return {
    data: found.map(({ entry }) => ({
      timestamp: entry.timestamp,
      method: entry.method,
      url: urlOf(entry, policy.integrations),
      endpoint: entry.endpoint,
      error: entry.reason,
      message: REASONS[entry.reason as Reason]?.message ?? null,
      status: entry.status,
      request_id: entry.request_id,
    })),
  }
}

/** Without its query, which is not logged. Null where the host is not: an integration may have further ones. */
function urlOf(
  { endpoint, integration_id, data }: ActivityEntry,
  integrations: AskingAgent['policy']['integrations'],
): string | null {
  const known = integrations.find((one) => one.integration_id === integration_id)
  const base = known?.also_hosts?.length ? null : (known?.base_url ?? data['base_url'])
  const { origin } = (typeof base === 'string' ? parseUrl(base) : null) ?? {}
  return endpoint === null || origin === undefined ? null : origin + endpoint
}
