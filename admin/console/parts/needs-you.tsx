import type { ComponentChildren } from 'preact'
import type { Alert, Page, Series, Stats, Webhook } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { countOf } from '../count-of.ts'
import { lastText } from '../last-text.ts'
import { linkTo } from '../place.ts'
import { reasonTitle } from '../reason-title.ts'
import { type Unusual, unusualRefusals } from '../unusual-refusals.ts'
import { useAcknowledge } from '../use-acknowledge.tsx'
import { type Loading, useLoad } from '../use-load.ts'
import { Tag } from './bits.tsx'
import { ProblemNotice } from './notices.tsx'
import { isOld, StaleNote } from './stale-note.tsx'
import { StillCalling } from './still-calling.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

const EVERY_MS = 5000
const UNUSUAL_EVERY_MS = 60_000
const SHOWN = 4
const RANK: Readonly<Record<Alert['severity'], number>> = { critical: 0, high: 1, medium: 2 }

interface Item {
  readonly key: string
  readonly severity: Alert['severity']
  readonly what: ComponentChildren
  readonly at: string | null
  readonly action: ComponentChildren
}

/** What an operator has to look at, the most severe first, each with its action. */
export function NeedsYou({
  stats: loading,
  alerts,
}: {
  stats: Loading<Stats>
  alerts: Loading<Page<Alert>>
}) {
  const { value: stats } = loading
  const webhooks = useLoad<Page<Webhook>>(
    stats !== null && stats.webhooks.failing > 0 ? '/webhooks?limit=200' : null,
    EVERY_MS,
  )
  const acknowledge = useAcknowledge(alerts.reload)
  const unusual = useUnusual()
  const old = [loading, alerts, webhooks].find(isOld)
  const failing = (webhooks.value?.data ?? []).filter(({ status }) => status === 'failing')
  const items = [
    ...(stats === null ? [] : edgeItems(stats)),
    ...failing.map(webhookItem),
    ...unusual.found.map(refusalItem),
    ...(alerts.value?.data ?? []).map((alert) => alertItem(alert, acknowledge.button(alert))),
  ].toSorted(
    (a, b) => RANK[a.severity] - RANK[b.severity] || (b.at ?? '').localeCompare(a.at ?? ''),
  )
  return (
    <section class="needs">
      <div class="titled">
        <h2>Needs you</h2>
        <StaleNote of={old ?? unusual.read} what={old === undefined ? 'counts of refusals' : ''} />
      </div>
      <ProblemNotice problem={acknowledge.problem} />
      {stats !== null && alerts.value !== null && (
        <Table
          caption="What needs you"
          rows={items.slice(0, SHOWN)}
          keyOf={({ key }) => key}
          empty={
            old === undefined
              ? 'Nothing: no open alert, no failing webhook, every edge holds its lease.'
              : 'Unknown. When it was last read, there was nothing.'
          }
          columns={[
            { head: 'Severity', cell: ({ severity }) => <Tag text={severity} /> },
            { head: 'What', cell: ({ what }) => what },
            { head: 'Last', cell: ({ at }) => at !== null && <Time at={at} /> },
            { head: 'Action', cell: ({ action }) => <div class="buttons">{action}</div> },
          ]}
        />
      )}
      {items.length > SHOWN && (
        <p>
          <a href={linkTo(['alerts'])}>View all {items.length}</a>
        </p>
      )}
    </section>
  )
}

const edgeItems = ({ edges: { silent } }: Stats): readonly Item[] =>
  silent === 0
    ? []
    : [
        {
          key: 'edges',
          severity: 'critical',
          what: `${countOf(silent, 'edge has', 'edges have')} lost the lease without shutting down, and ${silent === 1 ? 'refuses' : 'refuse'} every call.`,
          at: null,
          action: `Check ${silent === 1 ? 'its process and its' : 'their processes and their'} connection to the store.`,
        },
      ]

const HOUR_MS = 3_600_000
const DAYS = 7

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

const refusalItem = ({ reason, count, usual }: Unusual): Item => ({
  key: `refusals ${reason}`,
  severity: 'high',
  what: `Out of the ordinary: ${countOf(count, 'call')} refused in an hour (${reasonTitle(reason)}), usually ${usual.toLocaleString()}.`,
  at: null,
  action: (
    <a
      href={linkTo(['activity'], {
        reason,
        from: new Date(Date.now() - 2 * HOUR_MS).toISOString(),
      })}
    >
      Show calls
    </a>
  ),
})

const webhookItem = ({ webhook_id, name, last_triggered_at }: Webhook): Item => ({
  key: webhook_id,
  severity: 'high',
  what: `The webhook ${name} is failing: its events are not delivered.`,
  at: last_triggered_at,
  action: <a href={linkTo(['webhooks', webhook_id])}>Repair and replay</a>,
})

/** The link leads to where the alert can be judged: the kills of an agent, the call, or the agent. */
function alertItem(alert: Alert, acknowledge: ComponentChildren): Item {
  const { alert_id, kind, severity, title, count, last, last_at } = alert
  const agent_id = lastText(last, 'agent_id')
  const activity_id = lastText(last, 'activity_id')
  return {
    key: alert_id,
    severity,
    what: (
      <>
        {count > 1 ? `${title} (${count} times)` : title}
        {kind === 'agent_killed' && agent_id !== null && (
          <>
            {' '}
            Reason: {lastText(last, 'reason') ?? 'unknown'}. <StillCalling agent_id={agent_id} />
          </>
        )}
      </>
    ),
    at: last_at,
    action: (
      <>
        {kind === 'agent_killed' && agent_id !== null && (
          <a href={linkTo(['kills'], { agent_id })}>View receipt</a>
        )}
        {kind !== 'agent_killed' && activity_id !== null && (
          <a href={linkTo(['activity', activity_id])}>
            {kind === 'changes_lost' ? 'View changes' : 'View call'}
          </a>
        )}
        {agent_id !== null && <a href={linkTo(['agents', agent_id])}>Open agent</a>}
        {acknowledge}
      </>
    ),
  }
}
