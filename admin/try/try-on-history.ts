import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { Reason } from '../../core/catalogue/reasons.ts'
import type { Admission } from '../../core/decision/admission.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { type AgentScopes, compileScopes } from '../../core/decision/compile-scopes.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import type { EffectiveSettings } from '../../core/decision/merge-settings.ts'
import { isToolAllowed } from '../../core/mcp/check-mcp-tool.ts'
import { phaseAt } from '../../core/decision/scopes-in-force.ts'
import { type SearchParts, searchActivity } from '../activity/search-activity.ts'
import { admitQuestion } from './explain-call.ts'
import { explanation } from './explanation.ts'
import type { StoredPolicy } from './read-policy.ts'
import { knownUrl } from '../../core/bounded/parse-url.ts'

/** Calls that one trial looks at, and the time that it takes, at most: the newest come first. */
const CALLS_MAX = 20_000
const BUDGET_MS = 2_000
const PAGE = 200
/** Different changed calls that are listed; all are counted. */
const CHANGES_MAX = 50

/** Calls with one method and path whose decision would change. */
export interface ChangedCalls {
  readonly method: string
  readonly endpoint: string
  readonly integration_id: string
  readonly before: 'allowed' | 'refused'
  readonly after: 'allowed' | 'refused'
  /** The error of the side that is refused. */
  readonly error: string | null
  readonly count: number
  readonly last_at: string
  readonly last_id: string
}

export interface Trial {
  /** Stored calls that were decided again. */
  readonly calls: number
  readonly would_pass: number
  readonly would_be_refused: number
  readonly changes: readonly ChangedCalls[]
  /** Whether all calls of the range were looked at; if not, those since `since` were. */
  readonly complete: boolean
  readonly since: string | null
}

/**
 * Decides the stored calls of an agent twice, with its scopes as they are and as they would be. What its scope has refused is judged
 * again where the log tells enough: rate, tools, sizes of requests and batches, but no texts. A killed agent counts as active. Queries
 * and headers are not stored. Scopes have to be in force at the time of the call.
 */
export async function tryOnHistory(
  parts: SearchParts,
  organization_id: string,
  policy: StoredPolicy,
  scopes: readonly Scope[],
  range: { readonly from_ms: number; readonly to_ms: number | null },
  /** The limit of the gateway for the body of a request. */
  body_max: number,
): Promise<Trial> {
  const decide = decider(policy, scopes, body_max)
  const filter = {
    equal: [['agent_id', policy.agent?.agent_id ?? '']] as const,
    request_id: null,
    q: null,
    from_ms: range.from_ms,
    to_ms: range.to_ms,
  }
  const tally = new Map<string, { -readonly [K in keyof ChangedCalls]: ChangedCalls[K] }>()
  const started_ms = parts.nowMs()
  let calls = 0
  let since: string | null = null
  for (let before: string | null = null; ; ) {
    const { found, next } = await searchActivity(parts, organization_id, filter, {
      before,
      limit: PAGE,
    })
    for (const { entry } of found) {
      since = entry.timestamp
      const changed = decide(entry)
      if (changed === null) continue
      calls++
      if (changed === 'same') continue
      const { method, endpoint, integration_id } = changed
      const key = JSON.stringify([method, endpoint, integration_id])
      const known = tally.get(key)
      if (known === undefined) tally.set(key, changed)
      else known.count++
    }
    const isOver = calls >= CALLS_MAX || parts.nowMs() - started_ms > BUDGET_MS
    if (next === null || isOver)
      return { calls, ...sum([...tally.values()]), complete: next === null, since }
    before = next
  }
}

function sum(changes: readonly ChangedCalls[]) {
  const total = (after: ChangedCalls['after']): number =>
    changes.filter((one) => one.after === after).reduce((count, one) => count + one.count, 0)
  return {
    would_pass: total('allowed'),
    would_be_refused: total('refused'),
    changes: changes.toSorted((a, b) => b.count - a.count).slice(0, CHANGES_MAX),
  }
}

type Decider = (entry: ActivityEntry) => ChangedCalls | 'same' | null

/** Null for an entry that is no call, or whose integration no longer exists. Calls that are alike are decided once. */
function decider(policy: StoredPolicy, scopes: readonly Scope[], body_max: number): Decider {
  const { agent, integrations, connections } = policy
  const table = compileIntegrations(integrations, connections)
  const origins = new Map(
    integrations.map(({ integration_id, base_url }) => [integration_id, knownUrl(base_url).origin]),
  )
  const [now, then] = [compileScopes(policy.scopes), compileScopes(scopes)]
  const known = new Map<string, readonly [Admission, Admission]>()
  const decide = (entry: ActivityEntry, url: string, of: AgentScopes): Admission =>
    admitQuestion({
      method: entry.method ?? '',
      url,
      headers: headersOf(entry),
      agent: { agent, killed_at: null, scopes: of },
      integrations: table,
      now_ms: Date.parse(entry.timestamp),
    })
  return (entry) => {
    const { id, timestamp, method, endpoint, integration_id } = entry
    const origin = origins.get(integration_id ?? '')
    if (method === null || endpoint === null || integration_id === null || origin === undefined)
      return null
    const url = origin + endpoint
    const at_ms = Date.parse(timestamp)
    const headers = JSON.stringify(headersOf(entry))
    const key = `${phaseAt(now, at_ms)} ${phaseAt(then, at_ms)} ${headers} ${method} ${url}`
    const admissions =
      known.get(key) ?? ([decide(entry, url, now), decide(entry, url, then)] as const)
    known.set(key, admissions)
    const [before, after] = admissions.map((admission) => errorOf(entry, admission, body_max))
    if (before === undefined || after === undefined) return null
    if ((before === null) === (after === null)) return 'same'
    return {
      method,
      endpoint,
      integration_id,
      before: before === null ? 'allowed' : 'refused',
      after: after === null ? 'allowed' : 'refused',
      error: before ?? after,
      count: 1,
      last_at: timestamp,
      last_id: id,
    }
  }
}

/** Of the headers that decided a refusal, what the log tells. */
function headersOf({ reason, method, data }: ActivityEntry): Readonly<Record<string, string>> {
  if (reason === 'upgrade_not_supported') return { upgrade: 'websocket' }
  const action = data['attempted_action']
  const [attempted = '', path] = typeof action === 'string' ? action.split(' ') : []
  const isOverride = reason === 'permission_denied' && path !== undefined && attempted !== method
  return isOverride ? { 'x-http-method-override': attempted } : {}
}

/** What of these settings has refused the call, if they still do. */
const STILL_REFUSED: Readonly<
  Partial<
    Record<Reason, (entry: ActivityEntry, settings: EffectiveSettings, body_max: number) => boolean>
  >
> = {
  mcp_tool_blocked: ({ data: { tool_name } }, { tools }) =>
    !isToolAllowed(tools, typeof tool_name === 'string' ? tool_name : null),
  // With the refused ones before it in its minute.
  rate_limit_exceeded: ({ data: { current_rpm } }, { rate: { requests_per_minute: limit } }) =>
    limit !== null && !(Number(current_rpm) <= limit),
  request_too_large: ({ bytes_in }, { max_body_bytes: limit }, body_max) =>
    bytes_in === null || bytes_in > Math.min(limit ?? body_max, body_max),
  permission_denied: ({ data: { batch } }, { allow_batches }) =>
    batch === 'elsewhere' || (batch === 'unread' && !allow_batches),
}

/** Null for a call that passes. */
function errorOf(entry: ActivityEntry, admission: Admission, body_max: number): string | null {
  const { error } = explanation(admission)
  if (error !== null || admission.kind !== 'admitted' || entry.reason === null) return error
  const isRefused = STILL_REFUSED[entry.reason]?.(entry, admission.settings, body_max) ?? false
  return isRefused ? entry.reason : null
}
