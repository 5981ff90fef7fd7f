import { useEffect, useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type {
  Agent,
  Baseline,
  ActivityEntry,
  Kill,
  Lock,
  Page,
  Receipt,
  Scope,
} from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { concernsAgent } from '../lock-words.ts'
import { Facts, Json, Tag } from '../parts/bits.tsx'
import { AgentTimeline } from '../parts/agent-timeline.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { Dialog, DialogForm } from '../parts/dialog.tsx'
import { EntryTable } from '../parts/entry-table.tsx'
import { NameField } from '../parts/fields.tsx'
import { LabelsField, labelsPatch, SelectorText, useLabelsText } from '../parts/label-fields.tsx'
import { Keys } from '../parts/keys.tsx'
import { KillDialog, KillReceipt } from '../parts/kill.tsx'
import { LockLines } from '../parts/lock-lines.tsx'
import type { Lever } from '../parts/stop-dialog.tsx'
import { killColumns } from '../parts/kill-rows.tsx'
import { Loaded } from '../parts/notices.tsx'
import { Reactivate } from '../parts/reactivate.tsx'
import { RoleNote } from '../parts/role-note.tsx'
import { ScopeName } from '../parts/scope-name.tsx'
import { ReadableTable, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { UnlistedField } from '../parts/unlisted-field.tsx'
import { goTo, linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { useLoad } from '../use-load.ts'
import { useNames } from '../use-names.ts'

type Query = Readonly<Record<string, string>>

const ENTRIES_SHOWN = 20
const KILLS_SHOWN = 5
const EVERY_MS = 5000

export function AgentPage({ agent_id, query }: { agent_id: string; query: Query }) {
  const path = `/admin/agents/${encodeURIComponent(agent_id)}`
  const agent = useLoad<Agent>(path, EVERY_MS)
  const [receipt, setReceipt] = useState<Receipt | null>(null)
  return (
    <>
      <p>
        <a href={linkTo(['agents'])}>All agents</a>
      </p>
      <Loaded from={agent} page="Agent">
        {(value) => (
          <>
            <div class="head">
              <h1>
                {value.agent_name} <Tag text={value.status} />
              </h1>
              <Deeds
                agent={value}
                path={path}
                wanted={query['do']}
                onKilled={setReceipt}
                onChanged={agent.reload}
              />
            </div>
            {receipt !== null && <KillReceipt receipt={receipt} />}
            {value.killed_at !== null && <KilledBand agent={value} at={value.killed_at} />}
            <AgentLocks agent={value} />
            <AgentFacts agent={value} />
            <AgentTimeline agent_id={agent_id} query={query} />
            <Scopes agent_id={agent_id} />
            <section>
              <h2>Keys</h2>
              <Keys
                key={value.status}
                path={`${path}/keys`}
                mayHaveMore={value.status === 'active'}
              />
            </section>
            <Kills agent_id={agent_id} state={value.status} />
            <Learned agent_id={agent_id} path={`${path}/baseline`} />
            <Recent agent_id={agent_id} />
          </>
        )}
      </Loaded>
    </>
  )
}

function Deeds({
  agent,
  path,
  wanted,
  onKilled,
  onChanged,
}: {
  agent: Agent
  path: string
  /** The dialog to begin with. */
  wanted: string | undefined
  onKilled: (receipt: Receipt | null) => void
  onChanged: () => void
}) {
  const mayKill = useMay('operator')
  const [stopping, setStopping] = useState(mayKill ? leverOf(wanted) : null)
  const mayChange = useMay('admin')
  return (
    <div class="buttons">
      {mayKill && (
        <button
          type="button"
          class={agent.status === 'active' ? 'danger' : 'danger quiet'}
          onClick={() => setStopping('kill')}
        >
          {agent.status === 'active' ? 'Kill' : 'Kill again'}
        </button>
      )}
      {mayKill && agent.status === 'active' && (
        <button type="button" class="danger quiet" onClick={() => setStopping('deny')}>
          Pause
        </button>
      )}
      {mayChange && agent.status === 'killed' && (
        <Reactivate
          path={path}
          isAsked={wanted === 'reactivate'}
          onDone={() => (onKilled(null), onChanged())}
        />
      )}
      {mayChange && <Edit agent={agent} path={path} onDone={onChanged} />}
      {mayChange && <EditLabels agent={agent} path={path} onDone={onChanged} />}
      {mayChange && (
        <ConfirmButton
          label="Delete"
          title={`Delete ${agent.agent_name}?`}
          work={() => ask('DELETE', `${path}?cascade=true`)}
          onDone={() => goTo(['agents'])}
        >
          <p>Its keys and scopes are deleted too. Its id is never reused. The log is kept.</p>
        </ConfirmButton>
      )}
      {stopping !== null && (
        <KillDialog
          agent={agent}
          first={stopping}
          onClose={() => {
            setStopping(null)
            onChanged()
          }}
          onDone={(receipt) => {
            setStopping(null)
            onKilled(receipt)
            onChanged()
          }}
        />
      )}
    </div>
  )
}

const leverOf = (wanted: string | undefined): Lever | null =>
  wanted === 'kill' ? 'kill' : wanted === 'pause' ? 'deny' : null

/** The locks that concern all its calls; others are on the page of locks. */
function AgentLocks({ agent }: { agent: Agent }) {
  const locks = useLoad<Page<Lock>>('/admin/locks', EVERY_MS)
  // One that was just made is there at once.
  useEffect(() => locks.reload(), [agent])
  const own = (locks.value?.data ?? []).filter((lock) => concernsAgent(lock, agent))
  return own.length === 0 ? null : (
    <section class="notice warn" aria-label="Locks of this agent">
      <LockLines locks={own} onLifted={locks.reload} />
    </section>
  )
}

function Edit({ agent, path, onDone }: { agent: Agent; path: string; onDone: () => void }) {
  const [draft, setDraft] = useState<Pick<Agent, 'agent_name' | 'unlisted_hosts'> | null>(null)
  const save = useAction(
    () => ask('PATCH', path, { body: draft ?? {} }),
    () => {
      setDraft(null)
      onDone()
    },
  )
  return (
    <>
      <button type="button" onClick={() => setDraft(editableOf(agent))}>
        Edit
      </button>
      {draft !== null && (
        <DialogForm
          title={`Edit ${agent.agent_name}`}
          submit="Save"
          {...save}
          onSubmit={save.run}
          onClose={() => setDraft(null)}
        >
          <NameField
            member="/agent_name"
            value={draft.agent_name}
            onValue={(agent_name) => setDraft({ ...draft, agent_name })}
          />
          <UnlistedField
            value={draft.unlisted_hosts}
            onValue={(unlisted_hosts) => setDraft({ ...draft, unlisted_hosts })}
            unset="as the organization says"
          />
        </DialogForm>
      )}
    </>
  )
}

const editableOf = ({ agent_name, unlisted_hosts }: Agent) => ({ agent_name, unlisted_hosts })

function EditLabels({ agent, path, onDone }: { agent: Agent; path: string; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useLabelsText(agent.labels)
  const [changed, setChanged] = useState<readonly string[]>([])
  const save = useAction(
    () => ask<Agent>('PATCH', path, { body: { labels: labelsPatch(agent.labels, text) ?? text } }),
    ({ scopes_gained = [], scopes_lost = [] }) => {
      setOpen(false)
      setChanged([
        ...scopes_gained.map(({ name }) => `Gained: ${name}`),
        ...scopes_lost.map(({ name }) => `Lost: ${name}`),
      ])
      onDone()
    },
  )
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Labels
      </button>
      {isOpen && (
        <DialogForm
          title="Labels of the agent"
          submit="Save"
          {...save}
          onSubmit={save.run}
          onClose={() => setOpen(false)}
        >
          <LabelsField value={text} onValue={setText} />
        </DialogForm>
      )}
      {changed.length > 0 && (
        <Dialog title="The scopes of the agent have changed" onClose={() => setChanged([])}>
          <ul>
            {changed.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <button type="button" onClick={() => setChanged([])}>
            Close
          </button>
        </Dialog>
      )}
    </>
  )
}

const KilledBand = ({ agent, at }: { agent: Agent; at: string }) => (
  <p class="notice bad">
    <strong>
      Killed <Time at={at} />: {agent.kill_reason ?? 'no reason given'}
    </strong>{' '}
    Its calls are refused. <RoleNote role="admin" to="reactivate it" />
  </p>
)

function AgentFacts({ agent }: { agent: Agent }) {
  const hasMetadata = Object.keys(agent.metadata).length > 0
  return (
    <Facts
      facts={[
        ['id', <code key="id">{agent.agent_id}</code>],
        ['last call', <Time key="seen" at={agent.last_seen_at} isFull />],
        ['created', <Time key="made" at={agent.created_at} isFull />],
        ['unlisted hosts', agent.unlisted_hosts ?? 'as the organization says'],
        ...(Object.keys(agent.labels).length === 0
          ? []
          : [['labels', <Json key="l" value={agent.labels} />] as const]),
        ...(hasMetadata ? [['metadata', <Json key="m" value={agent.metadata} />] as const] : []),
      ]}
    />
  )
}

function Scopes({ agent_id }: { agent_id: string }) {
  const path = `/admin/agents/${encodeURIComponent(agent_id)}/scopes`
  const scopes = useLoad<Page<Scope>>(withQuery(path, { effective: 'true', limit: '100' }))
  const integrationName = useNames('integrations')
  const mayChange = useMay('admin')
  return (
    <section>
      <h2>Scopes</h2>
      <Loaded from={scopes}>
        {({ data, unreadable }) => (
          <ReadableTable
            noun="scope"
            unreadable={unreadable}
            caption="Scopes of this agent"
            rows={data}
            keyOf={({ scope_id }) => scope_id}
            empty="No scopes. Without one, the agent cannot call anything."
            columns={[
              {
                head: 'Name',
                cell: (scope) => <ScopeName of={scope} />,
              },
              {
                head: 'Integration',
                cell: ({ integration_id: id, integration_selector }) =>
                  id === null ? (
                    <SelectorText of={integration_selector} />
                  ) : (
                    <a href={linkTo(['integrations'], { q: id })}>{integrationName(id)}</a>
                  ),
              },
              {
                head: 'By labels',
                cell: ({ agent_selector }) => <SelectorText of={agent_selector} />,
              },
              { head: 'Priority', isNumber: true, cell: ({ priority }) => priority },
            ]}
          />
        )}
      </Loaded>
      {mayChange && (
        <p>
          <a href={linkTo(['scopes', 'new'], { agent_id })}>Add a scope</a>
        </p>
      )}
    </section>
  )
}

function Kills({ agent_id, state }: { agent_id: string; state: Agent['status'] }) {
  const query = { agent_id, limit: String(KILLS_SHOWN) }
  const kills = useLoad<Page<Kill>>(withQuery('/admin/kills', query), EVERY_MS)
  // A kill is in the list at once, not at the next interval.
  useEffect(() => kills.reload(), [state])
  if (kills.value?.data.length === 0) return null
  return (
    <section>
      <h2>Kills</h2>
      <Loaded from={kills}>
        {({ data, next_cursor }) => (
          <>
            <Table
              caption="Kills of this agent"
              rows={data}
              keyOf={({ kill_id }) => kill_id}
              empty=""
              columns={killColumns(true)}
            />
            {next_cursor !== null && (
              <p>
                <a href={linkTo(['kills'], { agent_id })}>View all kills</a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Learned({ agent_id, path }: { agent_id: string; path: string }) {
  const baseline = useLoad<Baseline>(path)
  return (
    <section>
      <h2>Baseline</h2>
      <Loaded from={baseline}>
        {({ scopes }) => (
          <Table
            caption="Baseline per scope"
            rows={scopes}
            keyOf={({ scope_id }) => scope_id}
            empty="No scopes."
            columns={[
              { head: 'Scope', cell: ({ name }) => name },
              {
                head: 'State',
                cell: (scope) =>
                  !scope.enabled
                    ? 'off'
                    : scope.learning
                      ? `learning: ${scope.learned_hours} of ${countOf(scope.needed_hours, 'hour')}, ${scope.learned_calls} of ${countOf(scope.needed_calls, 'call')}`
                      : 'active',
              },
              { head: 'Score', isNumber: true, cell: ({ score }) => score.toFixed(2) },
              { head: 'Signals', cell: ({ anomaly_types: types }) => types.join(', ') || 'none' },
              {
                head: 'Rate',
                isNumber: true,
                cell: ({ current_rpm, normal_rpm }) =>
                  `${current_rpm.toFixed(1)}/min, baseline ${normal_rpm.toFixed(1)}/min`,
              },
              {
                head: 'Refused, failed',
                isNumber: true,
                cell: ({ denied_share, failed_share }) =>
                  `${(denied_share * 100).toFixed(1)} %, ${(failed_share * 100).toFixed(1)} %`,
              },
              {
                head: 'Known',
                cell: ({ endpoints, source_ips }) => (
                  <details>
                    <summary>
                      {countOf(endpoints.length, 'endpoint')},{' '}
                      {countOf(source_ips.length, 'address', 'addresses')}
                    </summary>
                    <Json value={{ endpoints, source_ips }} />
                  </details>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <p>
        <a href={linkTo(['anomalies'], { agent_id })}>View reported anomalies</a>
      </p>
    </section>
  )
}

function Recent({ agent_id }: { agent_id: string }) {
  const entries = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', { agent_id, limit: String(ENTRIES_SHOWN) }),
    EVERY_MS,
  )
  return (
    <section>
      <h2>Recent activity</h2>
      <Loaded from={entries}>
        {({ data }) => <EntryTable entries={data} query={{ agent_id }} empty="No entries." />}
      </Loaded>
      <p>
        <a href={linkTo(['activity'], { agent_id })}>View all activity</a>
      </p>
    </section>
  )
}
