import { useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Alert } from '../api-types.ts'
import { lastText } from '../last-text.ts'
import { AgentLink, Facts, Tag } from '../parts/bits.tsx'
import { DialogForm } from '../parts/dialog.tsx'
import { SelectField, TextArea } from '../parts/fields.tsx'
import { KillLink } from '../parts/kill.tsx'
import { Loaded, ProblemNotice } from '../parts/notices.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAcknowledge } from '../use-acknowledge.tsx'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'

const PAGE = '200'
/** Of one request of the API. */
const BULK_MAX = 200
const STATUSES = ['open', 'acknowledged', 'resolved', 'any'] as const

export function AlertsPage({ query }: { query: Readonly<Record<string, string>> }) {
  const status = query['status'] ?? 'open'
  const alerts = usePages<Alert>(
    withQuery('/admin/alerts', {
      status: status === 'any' ? undefined : status,
      sort: 'severity',
      limit: PAGE,
    }),
  )
  const [chosen, setChosen] = useState<readonly Alert[] | null>(null)
  const acknowledge = useAcknowledge(alerts.reload)
  const apiName = useNames('integrations')
  const open = (alerts.value ?? []).filter((alert) => alert.status === 'open')
  return (
    <>
      <div class="head">
        <h1>Alerts</h1>
        <AcknowledgeAll alerts={open} what="all" onChosen={setChosen} />
      </div>
      <p class="muted">
        An alert counts repeats while it is open. It is resolved when its cause is over: the webhook
        delivers again, the agent was reactivated, or a finding was not repeated for seven days.
      </p>
      <div class="filter">
        <SelectField
          label="Status"
          value={status}
          onValue={(value) => goTo(['alerts'], { status: value })}
          options={STATUSES.map((one) => [one, one])}
        />
      </div>
      <ProblemNotice problem={acknowledge.problem} />
      <Loaded from={alerts}>
        {(all) =>
          all.length === 0 ? (
            <p class="empty">{status === 'open' ? 'No open alerts.' : 'No alerts.'}</p>
          ) : (
            groupsOf(all).map((group) => (
              <AlertGroup
                key={group[0]?.group}
                alerts={group}
                onChosen={setChosen}
                button={acknowledge.button}
                apiName={apiName}
              />
            ))
          )
        }
      </Loaded>
      {alerts.more !== null && (
        <button type="button" onClick={alerts.more}>
          Load more
        </button>
      )}
      {chosen !== null && (
        <AcknowledgeDialog
          alerts={chosen}
          onClose={() => setChosen(null)}
          onDone={() => {
            setChosen(null)
            alerts.reload()
          }}
        />
      )}
    </>
  )
}

/** Alerts of one agent, or of one kind, in the order of their most severe. */
function groupsOf(alerts: readonly Alert[]): readonly (readonly Alert[])[] {
  const groups = new Map<string, Alert[]>()
  for (const alert of alerts) groups.set(alert.group, [...(groups.get(alert.group) ?? []), alert])
  return [...groups.values()]
}

function AlertGroup({
  alerts,
  onChosen,
  button,
  apiName,
}: {
  alerts: readonly Alert[]
  onChosen: (alerts: readonly Alert[]) => void
  button: ReturnType<typeof useAcknowledge>['button']
  apiName: (integration_id: string) => string
}) {
  const [first] = alerts
  if (first === undefined) return null
  const agent_id = lastText(first.last, 'agent_id')
  const name = lastText(first.last, 'agent_name')
  const title = name ?? agent_id ?? first.kind.replaceAll('_', ' ')
  const open = alerts.filter(({ status }) => status === 'open')
  return (
    <section>
      <div class="head">
        <h2>
          {agent_id === null ? title : <AgentLink id={agent_id} name={name} />}{' '}
          <span class="muted">{alerts.length}</span>
        </h2>
        <div class="buttons">
          {open.length > 1 && (
            <AcknowledgeAll alerts={open} what={`those of ${title}`} onChosen={onChosen} />
          )}
          {agent_id !== null && open.length > 0 && <KillLink agent_id={agent_id} />}
        </div>
      </div>
      <Table
        caption={`Alerts of ${title}`}
        rows={alerts}
        keyOf={({ alert_id }) => alert_id}
        empty=""
        columns={[
          { head: 'Severity', cell: ({ severity }) => <Tag text={severity} /> },
          {
            head: 'What',
            cell: (alert) => (
              <>
                {alert.title}
                <WithApi last={alert.last} apiName={apiName} />
                <LastTime last={alert.last} apiName={apiName} />
              </>
            ),
          },
          { head: 'Count', isNumber: true, cell: ({ count }) => count },
          { head: 'First', cell: ({ first_at }) => <Time at={first_at} /> },
          { head: 'Last', cell: ({ last_at }) => <Time at={last_at} /> },
          {
            head: 'Status',
            cell: (alert) =>
              alert.status === 'open' ? (
                <div class="buttons">
                  {button(alert)}
                  <WithComment alert={alert} onChosen={onChosen} />
                </div>
              ) : (
                <Closed alert={alert} />
              ),
          },
        ]}
      />
    </section>
  )
}

function AcknowledgeAll({
  alerts,
  what,
  onChosen,
}: {
  alerts: readonly Alert[]
  what: string
  onChosen: (alerts: readonly Alert[]) => void
}) {
  const some = alerts.slice(0, BULK_MAX)
  if (!useMay('operator') || some.length === 0) return null
  return (
    <button type="button" onClick={() => onChosen(some)}>
      Acknowledge {what} ({some.length})
    </button>
  )
}

const WithComment = ({
  alert,
  onChosen,
}: {
  alert: Alert
  onChosen: (alerts: readonly Alert[]) => void
}) =>
  useMay('operator') ? (
    <button type="button" onClick={() => onChosen([alert])}>
      With comment
    </button>
  ) : (
    <Tag text="open" />
  )

/** Who or what closed it, and why. */
function Closed({ alert }: { alert: Alert }) {
  if (alert.status === 'resolved')
    return (
      <>
        resolved <Time at={alert.resolved_at} />: {alert.resolution}
      </>
    )
  return (
    <>
      by {alert.acknowledged_by} <Time at={alert.acknowledged_at} />
      {alert.comment !== null && <blockquote>{alert.comment}</blockquote>}
    </>
  )
}

function AcknowledgeDialog({
  alerts,
  onClose,
  onDone,
}: {
  alerts: readonly Alert[]
  onClose: () => void
  onDone: () => void
}) {
  const [comment, setComment] = useState('')
  const alert_ids = alerts.map(({ alert_id }) => alert_id)
  const body = { alert_ids, ...(comment.trim() === '' ? {} : { comment: comment.trim() }) }
  const save = useAction(() => ask('POST', '/admin/alerts/acknowledge', { body }), onDone)
  const [only, ...others] = alerts
  return (
    <DialogForm
      title={others.length === 0 ? 'Acknowledge' : `Acknowledge ${alerts.length} alerts`}
      submit="Acknowledge"
      {...save}
      onSubmit={save.run}
      onClose={onClose}
    >
      {others.length === 0 && <p>{only?.title}</p>}
      <TextArea
        label="Comment"
        member="/comment"
        hint="What was found, and what was done. It is kept with the alerts."
        value={comment}
        onValue={setComment}
      />
    </DialogForm>
  )
}

/** Alerts of one agent differ by the API that was called. */
function WithApi({ last, apiName }: Parameters<typeof LastTime>[0]) {
  const integration_id = lastText(last, 'integration_id')
  return integration_id === null ? null : <div class="muted">API: {apiName(integration_id)}</div>
}

/** Members of an occurrence that are shown by what they name. */
const IDS: ReadonlySet<string> = new Set(['activity_id', 'agent_id', 'agent_name', 'webhook_id'])

type Fact = Parameters<typeof Facts>[0]['facts'][number]

/** Links, and details of the last occurrence. */
function LastTime({ last, apiName }: { last: Alert['last']; apiName: (id: string) => string }) {
  const activity_id = lastText(last, 'activity_id')
  const facts = Object.entries(last).flatMap<Fact>(([name, value]) => {
    if (value === null || IDS.has(name)) return []
    if (name === 'integration_id') return [['API', apiName(textOf(value))]]
    if (name === 'scope_id')
      return [['scope', <a href={linkTo(['scopes', textOf(value)])}>View scope</a>]]
    return [[name.replaceAll('_', ' '), textOf(value)]]
  })
  return (
    <details>
      <summary>Last occurrence</summary>
      {activity_id !== null && (
        <p>
          <a href={linkTo(['activity', activity_id])}>View in activity</a>
        </p>
      )}
      <Facts facts={facts} />
    </details>
  )
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
