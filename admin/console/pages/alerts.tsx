import { useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Alert } from '../api-types.ts'
import { lastText } from '../last-text.ts'
import { AgentLink, Facts, Tag } from '../parts/bits.tsx'
import { DialogForm } from '../parts/dialog.tsx'
import { SelectField, TextArea, TextField } from '../parts/fields.tsx'
import { KillLink } from '../parts/kill.tsx'
import { LoadMore } from '../parts/load-more.tsx'
import { Loaded, ProblemNotice } from '../parts/notices.tsx'
import { NeedsYou } from '../parts/needs-you.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { goTo, linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAcknowledge } from '../use-acknowledge.tsx'
import { useAction } from '../use-action.ts'
import { usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'

/** Few enough that a page ends soon. */
const PAGE = '25'
/** Of one request of the API. */
const BULK_MAX = 200
const STATUSES = ['open', 'acknowledged', 'resolved', 'any'] as const
const CONCERNS = [
  ['', 'anything'],
  ['gateway', 'the gateway'],
  ['agents', 'agents'],
  ['handled', 'what was refused'],
] as const

type Query = Readonly<Record<string, string>>

/** Open alerts by their cause; one by one those of a cause, those that a text finds, and those that are closed. */
export function AlertsPage({ query }: { query: Query }) {
  const { status = 'open', concern = '', cause = '', q = '' } = query
  const isList = status !== 'open' || cause !== '' || q !== ''
  const [text, setText] = useState(q)
  const go = (more: Query): void => goTo(['alerts'], { ...query, ...more })
  return (
    <>
      <div class="head">
        <h1>Alerts</h1>
        {isList && <a href={linkTo(['alerts'])}>All causes</a>}
      </div>
      <p class="muted">
        An alert counts repeats while it is open. It is resolved when its cause is over: the webhook
        delivers again, the agent was reactivated, or a finding was not repeated for seven days.
      </p>
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault()
          go({ q: text.trim() })
        }}
      >
        <SelectField
          label="Status"
          value={status}
          onValue={(value) => go({ status: value })}
          options={STATUSES.map((one) => [one, one])}
        />
        <SelectField
          label="About"
          value={concern}
          onValue={(value) => go({ concern: value })}
          options={CONCERNS}
        />
        <TextField label="Text" value={text} onValue={setText} />
        <button type="submit">Search</button>
      </form>
      {isList ? (
        <AlertList query={{ ...query, status }} />
      ) : (
        <NeedsYou concern={concern === '' ? undefined : concern} />
      )}
    </>
  )
}

function AlertList({ query: { status, concern, cause, q } }: { query: Query }) {
  const alerts = usePages<Alert>(
    withQuery('/admin/alerts', {
      status: status === 'any' ? undefined : status,
      concern: concern === '' ? undefined : concern,
      cause,
      q,
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
      <AcknowledgeAll alerts={open} onChosen={setChosen} />
      <ProblemNotice problem={acknowledge.problem} />
      <Loaded from={alerts}>
        {(all) =>
          all.length === 0 ? (
            <p class="empty">No such alerts.</p>
          ) : (
            <AlertTable
              alerts={all}
              onChosen={setChosen}
              button={acknowledge.button}
              apiName={apiName}
            />
          )
        }
      </Loaded>
      <LoadMore of={alerts.more} />
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

function AlertTable({
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
  return (
    <Table
      caption="Alerts"
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
        { head: 'Agent', cell: ({ last }) => <AgentOf last={last} /> },
        { head: 'Count', isNumber: true, cell: ({ count }) => count },
        { head: 'First', cell: ({ first_at }) => <Time at={first_at} /> },
        { head: 'Last', cell: ({ last_at }) => <Time at={last_at} /> },
        {
          head: 'Status',
          cell: (alert) =>
            alert.status === 'open' ? (
              <div class="buttons">
                {button([alert.alert_id], alert.kind)}
                <WithComment alert={alert} onChosen={onChosen} />
              </div>
            ) : (
              <Closed alert={alert} />
            ),
        },
      ]}
    />
  )
}

function AgentOf({ last }: Pick<Alert, 'last'>) {
  const agent_id = lastText(last, 'agent_id')
  if (agent_id === null) return null
  return (
    <>
      <AgentLink id={agent_id} name={lastText(last, 'agent_name')} />{' '}
      <KillLink agent_id={agent_id} />
    </>
  )
}

function AcknowledgeAll({
  alerts,
  onChosen,
}: {
  alerts: readonly Alert[]
  onChosen: (alerts: readonly Alert[]) => void
}) {
  const some = alerts.slice(0, BULK_MAX)
  if (!useMay('operator') || some.length < 2) return null
  return (
    <button type="button" onClick={() => onChosen(some)}>
      Acknowledge all ({some.length})
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
