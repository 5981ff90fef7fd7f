import type { AccessRequest, AlertCauses, Lock, Page, Series, Stats, Webhook } from './api-types.ts'
import { withQuery } from './api.ts'
import { type Need, needsOf } from './needs-of.ts'
import { type Unusual, unusualRefusals } from './unusual-refusals.ts'
import { type Loading, useLoad } from './use-load.ts'

const EVERY_MS = 5000
const UNUSUAL_EVERY_MS = 60_000
export const HOUR_MS = 3_600_000
const DAYS = 7
/** Agents with a pending request that are counted and named. */
const ASKING_MAX = '25'

/** What needs an operator, read again every few seconds. */
export function useNeeds(): {
  /** Null while it is not known. */
  readonly needs: readonly Need[] | null
  readonly totals: AlertCauses['totals'] | null
  readonly reads: readonly Loading<unknown>[]
  /** Counts of refusals, which are read less often. */
  readonly counts: Loading<Series>
  readonly reload: () => void
} {
  const stats = useLoad<Stats>('/admin/stats', EVERY_MS)
  const causes = useLoad<AlertCauses>('/admin/alerts/causes?status=open', EVERY_MS)
  const locks = useLoad<Page<Lock>>('/admin/locks', EVERY_MS)
  const requests = useLoad<Page<AccessRequest>>(
    withQuery('/admin/access-requests', { status: 'pending', per_agent: '1', limit: ASKING_MAX }),
    EVERY_MS,
  )
  const failing = stats.value?.webhooks.failing ?? 0
  const webhooks = useLoad<Page<Webhook>>(failing > 0 ? '/webhooks?limit=200' : null, EVERY_MS)
  const { found: unusual, read: counts } = useUnusual()
  const needs =
    stats.value === null || causes.value === null || locks.value === null || requests.value === null
      ? null
      : needsOf({
          silent: stats.value.edges.silent,
          failing,
          webhooks: (webhooks.value?.data ?? []).filter(({ status }) => status === 'failing'),
          locks: locks.value.data,
          asking: requests.value.data.map(({ agent_name }) => agent_name),
          causes: causes.value,
          unusual,
        })
  const totals = causes.value?.totals ?? null
  const reads = [stats, causes, locks, requests, webhooks]
  const reload = (): void => {
    causes.reload()
    locks.reload()
  }
  return { needs, totals, reads, counts, reload }
}

/** Reasons with far more refusals in the last hour than in those of the week before. */
function useUnusual(): { readonly found: readonly Unusual[]; readonly read: Loading<Series> } {
  const from = new Date(
    Math.ceil(Date.now() / HOUR_MS) * HOUR_MS - DAYS * 24 * HOUR_MS,
  ).toISOString()
  const path = (more: Readonly<Record<string, string>>): string =>
    withQuery('/admin/activity/series', { from, step: '3600', count: 'calls', ...more })
  const refused = useLoad<Series>(
    path({ by: 'reason', decision: 'blocked' }),
    UNUSUAL_EVERY_MS,
    'refused',
  )
  const all = useLoad<Series>(path({}), UNUSUAL_EVERY_MS, 'all')
  const active = all.value?.groups[0]?.counts.filter((count) => count > 0).length ?? 0
  const found = unusualRefusals(
    (refused.value?.groups ?? []).map(({ value, counts }) => ({ reason: value ?? '', counts })),
    active,
  )
  return { found, read: refused.problem === null ? all : refused }
}
