import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { compileIntegrations } from '../../core/decision/compile-integrations.ts'
import { type AgentScopes, compileScopes } from '../../core/decision/compile-scopes.ts'
import type { Scope } from '../../core/catalogue/model.ts'
import { phaseAt } from '../../core/decision/scopes-in-force.ts'
import { type SearchParts, searchActivity } from '../activity/search-activity.ts'
import { explainCall } from './explain-call.ts'
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
 * Decides the stored calls of an agent twice, with its scopes as they are and as they would be, up to the scope that applies:
 * rate, tools and texts are not judged again, and a killed agent counts as active. Queries and headers are not stored. Scopes have to be
 * in force at the time of the call.
 */
export async function tryOnHistory(
  parts: SearchParts,
  organization_id: string,
  policy: StoredPolicy,
  scopes: readonly Scope[],
  range: { readonly from_ms: number; readonly to_ms: number | null },
): Promise<Trial> {
  const decide = decider(policy, scopes)
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
function decider(policy: StoredPolicy, scopes: readonly Scope[]): Decider {
  const { agent, integrations, connections } = policy
  const table = compileIntegrations(integrations, connections)
  const origins = new Map(
    integrations.map(({ integration_id, base_url }) => [integration_id, knownUrl(base_url).origin]),
  )
  const [now, then] = [compileScopes(policy.scopes), compileScopes(scopes)]
  const known = new Map<string, readonly [string | null, string | null]>()
  const errorOf = (method: string, url: string, of: AgentScopes, now_ms: number): string | null =>
    explainCall({
      method,
      url,
      agent: { agent, killed_at: null, scopes: of },
      integrations: table,
      now_ms,
    }).error
  return ({ id, timestamp, method, endpoint, integration_id }) => {
    const origin = origins.get(integration_id ?? '')
    if (method === null || endpoint === null || integration_id === null || origin === undefined)
      return null
    const url = origin + endpoint
    const at_ms = Date.parse(timestamp)
    const key = `${phaseAt(now, at_ms)} ${phaseAt(then, at_ms)} ${method} ${url}`
    const errors =
      known.get(key) ??
      ([errorOf(method, url, now, at_ms), errorOf(method, url, then, at_ms)] as const)
    known.set(key, errors)
    const [before, after] = errors
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
