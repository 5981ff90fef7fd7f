import type { ComponentChildren } from 'preact'
import { withQuery } from '../api.ts'
import type { Alert } from '../api-types.ts'
import { lastId } from '../last-id.ts'
import { AgentLink, Json, Tag } from '../parts/bits.tsx'
import { SelectField } from '../parts/fields.tsx'
import { ProblemNotice } from '../parts/notices.tsx'
import { PagedTable } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../place.ts'
import { useAcknowledge } from '../use-acknowledge.tsx'
import { usePages } from '../use-load.ts'

export function AlertsPage({ query }: { query: Readonly<Record<string, string>> }) {
  const status = query['status'] ?? 'open'
  const alerts = usePages<Alert>(
    withQuery('/admin/alerts', { status: status === 'any' ? undefined : status }),
  )
  const acknowledge = useAcknowledge(alerts.reload)
  return (
    <>
      <h1>Alerts</h1>
      <p class="muted">An alert stays open and counts repeats until it is acknowledged.</p>
      <div class="filter">
        <SelectField
          label="Status"
          value={status}
          onValue={(value) => goTo(['alerts'], { status: value })}
          options={[
            ['open', 'open'],
            ['acknowledged', 'acknowledged'],
            ['any', 'any'],
          ]}
        />
      </div>
      <ProblemNotice problem={acknowledge.problem} />
      <PagedTable
        pages={alerts}
        caption="Alerts"
        keyOf={({ alert_id }) => alert_id}
        empty={status === 'open' ? 'No open alerts.' : 'No alerts.'}
        columns={[
          { head: 'Severity', cell: ({ severity }) => <Tag text={severity} /> },
          {
            head: 'What',
            cell: ({ title, last }) => (
              <>
                {title}
                <LastTime last={last} />
              </>
            ),
          },
          { head: 'Count', isNumber: true, cell: ({ count }) => count },
          { head: 'First', cell: ({ first_at }) => <Time at={first_at} /> },
          { head: 'Last', cell: ({ last_at }) => <Time at={last_at} /> },
          {
            head: 'Status',
            cell: (alert) => (
              <AlertState of={alert}>{acknowledge.button(alert.alert_id)}</AlertState>
            ),
          },
        ]}
      />
    </>
  )
}

/** The state: open, with its actions, or closed, with the user who closed it. */
function AlertState({ of, children }: { of: Alert; children: ComponentChildren }) {
  if (of.status === 'open')
    return (
      <div class="buttons">
        <Tag text="open" /> {children}
      </div>
    )
  return (
    <>
      by {of.acknowledged_by} <Time at={of.acknowledged_at} />
    </>
  )
}

/** Links, and details of the last occurrence. */
function LastTime({ last }: { last: Alert['last'] }) {
  const activity_id = lastId(last, 'activity_id')
  const agent_id = lastId(last, 'agent_id')
  return (
    <details>
      <summary>Last occurrence</summary>
      <p class="buttons">
        {activity_id !== null && <a href={linkTo(['activity', activity_id])}>View in activity</a>}
        {agent_id !== null && <AgentLink id={agent_id} name={lastId(last, 'agent_name')} />}
      </p>
      <Json value={last} />
    </details>
  )
}
