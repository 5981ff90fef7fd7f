import type { Integration, Page, Scope } from './api-types.ts'
import { withQuery } from './api.ts'
import type { FixableEntry } from './fixes-of.ts'
import { useLoad } from './use-load.ts'

/** An entry with what belongs to it, as far as it is there and loaded. */
export interface Judged {
  readonly entry: FixableEntry
  readonly integration: Integration | null
  /** Of the agent for the integration, also those that are not in force and those that select both. */
  readonly scopes: readonly Scope[] | null
}

/** Loads what belongs to an entry. */
export function useJudged(entry: FixableEntry): Judged {
  const { agent_id, integration_id } = entry
  const integration = useLoad<Integration>(
    integration_id === null ? null : `/admin/integrations/${encodeURIComponent(integration_id)}`,
  ).value
  const isCall = agent_id !== null && integration_id !== null
  const own = useLoad<Page<Scope>>(
    isCall ? withQuery('/admin/scopes', { agent_id, integration_id, limit: '200' }) : null,
  ).value
  const agent = `/admin/agents/${encodeURIComponent(agent_id ?? '')}`
  const effective = useLoad<Page<Scope>>(
    isCall ? withQuery(`${agent}/scopes`, { effective: 'true', limit: '200' }) : null,
  )
  if (own === null || (effective.value === null && effective.problem === null))
    return { entry, integration, scopes: null }
  const known = new Set(own.data.map(({ scope_id }) => scope_id))
  const selecting = (effective.value?.data ?? []).filter(
    (scope) =>
      !known.has(scope.scope_id) &&
      (scope.integration_id === integration_id || scope.scope_id === entry.scope_id),
  )
  return { entry, integration, scopes: [...own.data, ...selecting] }
}

/** The method and path below the base URL that were judged: an override may ask for others than the call itself. */
export function judgedCall({
  entry,
  integration,
}: Judged): { method: string; path: string } | null {
  const { method, endpoint, data } = entry
  const attempted = data['attempted_action']
  if (typeof attempted === 'string') {
    const at = attempted.indexOf(' ')
    return { method: attempted.slice(0, at), path: attempted.slice(at + 1) }
  }
  if (method === null || endpoint === null) return null
  return { method, path: integration === null ? endpoint : belowBase(endpoint, integration) }
}

function belowBase(endpoint: string, { base_url }: Integration): string {
  const base = new URL(base_url).pathname.replace(/\/$/, '')
  return endpoint.startsWith(base) ? endpoint.slice(base.length) || '/' : endpoint
}
