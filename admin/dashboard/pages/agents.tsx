import { useMemo, useState } from 'preact/hooks'
import { ask, withQuery } from '../api.ts'
import type { Agent, Series } from '../api-types.ts'
import { AgentLink, SecretOnce, Tag } from '../parts/bits.tsx'
import { DialogForm } from '../parts/dialog.tsx'
import { NameField, SelectField, TextField } from '../parts/fields.tsx'
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
  const rates = useRates()
  const bands = useBands()
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
        <SecretOnce label={`Key of ${created.agent_name}.`} secret={created.api_key} />
      )}
      <AgentFilter q={q ?? ''} status={status ?? ''} />
      <StaleNote
        of={rates.read.problem === null ? bands.read : rates.read}
        what="numbers of calls"
      />
      <PagedTable
        pages={agents}
        caption="Agents"
        keyOf={({ agent_id }) => agent_id}
        empty={q || status ? 'No matching agents.' : 'No agents yet.'}
        columns={[
          {
            head: 'Name',
            cell: ({ agent_id, agent_name }) => <AgentLink id={agent_id} name={agent_name} />,
          },
          { head: 'Status', cell: (agent) => <Tag text={agent.status} /> },
          { head: 'Last call', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
          ...callColumns(rates, bands),
          {
            head: 'Scopes',
            isNumber: true,
            cell: ({ scope_count }) => scope_count.toLocaleString(),
          },
          { head: 'Keys', isNumber: true, cell: ({ key_count }) => key_count.toLocaleString() },
          { head: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { head: 'Id', cell: ({ agent_id }) => <code>{agent_id}</code> },
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
        band={bands.of(agent_id)}
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
const EVERY_MS = 15_000
/** The most that the API groups by; the busiest come first. */
const GROUPS = 100

/** Calls by agent, one count for each step. */
const useCallsByAgent = (from_ms: number, step_s: number, every_ms: number, key: string) =>
  useLoad<Series>(
    withQuery('/admin/activity/series', {
      by: 'agent_id',
      count: 'calls',
      groups: String(GROUPS),
      step: String(step_s),
      from: new Date(from_ms).toISOString(),
    }),
    every_ms,
    key,
  )

interface Rates {
  readonly read: Loading<Series>
  /** Undefined until they are known, and for one that is not listed beside the busiest agents. */
  readonly of: (agent_id: string) => number | undefined
  /** False where some calls were counted without their agent. */
  readonly isExact: boolean
}

/** Calls of the last hour by agent. */
function useRates(): Rates {
  const end_ms = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  const read = useCallsByAgent(end_ms - HOUR_MS, 300, EVERY_MS, 'rates')
  const { groups = [], exact: isExact = false } = read.value ?? {}
  const totals = new Map(groups.map((group) => [group.value, group.total]))
  const isWhole = isExact && groups.length < GROUPS
  return { read, isExact, of: (agent_id) => totals.get(agent_id) ?? (isWhole ? 0 : undefined) }
}

const BANDS_EVERY_MS = 5 * MINUTE_MS
const BAND_MS = 7 * 24 * HOUR_MS
/** One hour in five is outside of the band, so only what is far from it is marked, and by more calls than chance makes. */
const FEW = 10

interface Bands {
  readonly read: Loading<Series>
  /** Null where it is not known, or not exactly. */
  readonly of: (agent_id: string) => Band | null
}

/** What is usual for the busiest agents at this time of day, from their calls of a week. */
function useBands(): Bands {
  const end_ms = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const read = useCallsByAgent(end_ms - BAND_MS, 3600, BANDS_EVERY_MS, 'bands')
  const { value } = read
  const bands = useMemo(
    () =>
      new Map(
        value?.exact ? value.groups.map((group) => [group.value, usualBand(group.counts)]) : [],
      ),
    [value],
  )
  return { read, of: (agent_id) => bands.get(agent_id) ?? null }
}

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
