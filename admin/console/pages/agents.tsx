import { useMemo, useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Agent, Series } from '../api-types.ts'
import { AgentLink, Tag } from '../parts/bits.tsx'
import { DialogForm } from '../parts/dialog.tsx'
import { NameField, SelectField, TextField } from '../parts/fields.tsx'
import { FirstCall } from '../parts/first-call.tsx'
import { KillLink } from '../parts/kill.tsx'
import { StaleNote } from '../parts/stale-note.tsx'
import { type Column, PagedTable } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { goTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useAction } from '../use-action.ts'
import { type Loading, useLoad, usePages } from '../use-load.ts'
import { type Band, usualBand } from '../usual-band.ts'

type Query = Readonly<Record<string, string>>
type Created = Agent & { readonly api_key: string }

export function AgentsPage({ query }: { query: Query }) {
  const { q, status } = query
  const agents = usePages<Agent>(withQuery('/admin/agents', { q, status }))
  const mayChange = useMay('admin')
  const mayKill = useMay('operator')
  const hour = useCalls(LAST_HOUR)
  const week = useCalls(LAST_WEEK)
  const bands = useMemo(() => bandsOf(week.value), [week.value])
  const [isCreating, setCreating] = useState(mayChange && query['do'] === 'create')
  const [created, setCreated] = useState<Created | null>(null)
  return (
    <>
      <div class="head">
        <h1>Agents</h1>
        {mayChange && (
          <button type="button" class="main" onClick={() => setCreating(true)}>
            Create an agent
          </button>
        )}
      </div>
      {created !== null && (
        <FirstCall
          key={created.agent_id}
          of={{ ...created, base_url: null, path: '', template: '' }}
        />
      )}
      <AgentFilter q={q ?? ''} status={status ?? ''} />
      <StaleNote of={hour.problem === null ? week : hour} what="numbers of calls" />
      <PagedTable
        pages={agents}
        caption="Agents"
        keyOf={({ agent_id }) => agent_id}
        empty={q || status ? 'No matching agents.' : 'No agents yet.'}
        columns={[
          {
            head: 'Name',
            cell: ({ agent_id, agent_name }) => (
              <>
                <AgentLink id={agent_id} name={agent_name} />
                <code class="id">{agent_id}</code>
              </>
            ),
          },
          { head: 'Status', cell: (agent) => <Tag text={agent.status} /> },
          { head: 'Last call', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
          ...callColumns(ratesOf(hour.value), bands),
          {
            head: 'Scopes',
            isNumber: true,
            cell: ({ scope_count }) => scope_count.toLocaleString(),
          },
          { head: 'Keys', isNumber: true, cell: ({ key_count }) => key_count.toLocaleString() },
          { head: 'Created', isExtra: true, cell: ({ created_at }) => <Time at={created_at} /> },
          ...(mayKill ? [KILL] : []),
        ]}
      />
      {isCreating && (
        <CreateAgent
          onClose={() => setCreating(false)}
          onDone={(agent) => {
            setCreating(false)
            setCreated(agent)
            agents.reload()
          }}
        />
      )}
    </>
  )
}

const callColumns = (rates: Rates, bands: Bands): Column<Agent>[] => [
  {
    head: 'Calls, last hour',
    isNumber: true,
    cell: ({ agent_id }) => rates.of(agent_id)?.toLocaleString() ?? '',
  },
  {
    head: 'Usual at this time',
    cell: ({ agent_id, status }) => (
      <Usual
        calls={status === 'active' && rates.isExact ? rates.of(agent_id) : undefined}
        band={bands.get(agent_id) ?? null}
      />
    ),
  },
]

const KILL = {
  head: 'Actions',
  cell: ({ agent_id, status }: Agent) => status === 'active' && <KillLink agent_id={agent_id} />,
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** The most that the API groups by; the busiest come first. */
const GROUPS = 100

/** A series of the calls of each agent, up to now: one count for each step. */
interface Calls {
  readonly span_ms: number
  readonly step_s: number
  /** The end is rounded up to this, so that not every drawing asks for another series. */
  readonly round_ms: number
  readonly every_ms: number
}

const LAST_HOUR: Calls = { span_ms: HOUR_MS, step_s: 300, round_ms: MINUTE_MS, every_ms: 15_000 }
/** A week of whole hours, for what is usual at this time of day. */
const LAST_WEEK: Calls = {
  span_ms: 7 * 24 * HOUR_MS,
  step_s: 3600,
  round_ms: HOUR_MS,
  every_ms: 5 * MINUTE_MS,
}

function useCalls({ span_ms, step_s, round_ms, every_ms }: Calls): Loading<Series> {
  const end_ms = Math.ceil(Date.now() / round_ms) * round_ms
  return useLoad<Series>(
    withQuery('/admin/activity/series', {
      by: 'agent_id',
      count: 'calls',
      groups: String(GROUPS),
      step: String(step_s),
      from: new Date(end_ms - span_ms).toISOString(),
    }),
    every_ms,
    `calls by agent over ${span_ms}`,
  )
}

interface Rates {
  /** Undefined until they are known, and for one that is not listed beside the busiest agents. */
  readonly of: (agent_id: string) => number | undefined
  /** False where some calls were counted without their agent. */
  readonly isExact: boolean
}

function ratesOf(series: Series | null): Rates {
  const { groups = [], exact: isExact = false } = series ?? {}
  const totals = new Map(groups.map((group) => [group.value, group.total]))
  const isWhole = isExact && groups.length < GROUPS
  return { isExact, of: (agent_id) => totals.get(agent_id) ?? (isWhole ? 0 : undefined) }
}

type Bands = ReadonlyMap<string | null, Band | null>

/** Of the busiest agents; none where they are not known exactly. */
const bandsOf = (series: Series | null): Bands =>
  new Map(series?.exact ? series.groups.map(({ value, counts }) => [value, usualBand(counts)]) : [])

/** One hour in five is outside of the band, so only what is far from it is marked, and by more calls than chance makes. */
const FEW = 10

function Usual({ calls, band }: { calls: number | undefined; band: Band | null }) {
  if (band === null) return <span class="muted">unknown</span>
  const { low, high } = band
  const text =
    low === high ? low.toLocaleString() : `${low.toLocaleString()} to ${high.toLocaleString()}`
  return (
    <>
      {text} {calls !== undefined && calls > 2 * high + FEW && <Tag text="above" />}
      {calls !== undefined && calls < low / 2 && low >= FEW && <Tag text="below" />}
    </>
  )
}

function AgentFilter({ q, status }: { q: string; status: string }) {
  const [text, setText] = useState(q)
  return (
    <form
      class="filter"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        goTo(['agents'], { q: text.trim(), status })
      }}
    >
      <TextField label="Name or id" type="search" value={text} onValue={setText} />
      <SelectField
        label="Status"
        value={status}
        onValue={(value) => goTo(['agents'], { q: text.trim(), status: value })}
        options={[
          ['', 'any'],
          ['active', 'active'],
          ['killed', 'killed'],
        ]}
      />
      <button type="submit">Search</button>
    </form>
  )
}

function CreateAgent({
  onClose,
  onDone,
}: {
  onClose: () => void
  onDone: (created: Created) => void
}) {
  const [agent_name, setName] = useState('')
  const create = useAction(
    () => ask<Created>('POST', '/admin/agents', { body: { agent_name } }),
    onDone,
  )
  return (
    <DialogForm
      title="Create an agent"
      submit="Create"
      {...create}
      onSubmit={create.run}
      onClose={onClose}
    >
      <NameField member="/agent_name" value={agent_name} onValue={setName} />
      <p class="muted">The agent gets its own key. It cannot call anything until it has a scope.</p>
    </DialogForm>
  )
}
