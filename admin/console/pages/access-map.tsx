import { useMemo, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { AccessMap } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { AgentLink } from '../parts/bits.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { TextField } from '../parts/fields.tsx'
import { useFirst } from '../parts/load-more.tsx'
import { Loaded } from '../parts/notices.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useLoad } from '../use-load.ts'

type MapCell = AccessMap['cells'][number]

/** Rows that are drawn at once: fewer where each takes several lines. */
const isNarrow = matchMedia('(max-width: 62rem)').matches
const AGENTS_SHOWN = isNarrow ? 15 : 40
/** APIs that fit beside each other. */
const APIS_SHOWN = 18
/** The others are left out on a screen of medium width. */
const APIS_BESIDE_MENU = 9
const UNUSED_SHOWN = isNarrow ? 5 : 25

/** Which agent may call which API, and what it called: a table whose cells are the picture. */
export function AccessMapPage({ query }: { query: Readonly<Record<string, string>> }) {
  const map = useLoad<AccessMap>('/admin/access-map')
  const [q, setQ] = useState(query['q'] ?? '')
  return (
    <>
      <div class="head">
        <h1>Access map</h1>
        <TextField label="Agent or API" type="search" value={q} onValue={setQ} maxLength={200} />
      </div>
      <Loaded from={map}>
        {(value) =>
          value.agents.length === 0 ? (
            <p class="empty">
              No agent yet. <a href={linkTo(['agents'], { do: 'create' })}>Create one</a>, and a
              scope that lets it call an API.
            </p>
          ) : (
            <>
              <Legend from={value.from} exact={value.exact} />
              <Matrix map={value} q={q.trim().toLowerCase()} />
              <Unused map={value} onRemoved={map.reload} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

const Legend = ({ from, exact }: Pick<AccessMap, 'from' | 'exact'>) => (
  <p class="map-legend">
    <span class="map-cell used">12</span> calls since <Time at={from} />{' '}
    <span class="map-cell refused">12</span> some refused{' '}
    <span class="map-cell unused">unused</span> may call, and never did{' '}
    <span class="map-cell denied">12</span> refused, without a scope
    {!exact && ' · Not all pairs are shown.'}
  </p>
)

interface Row {
  readonly agent: AccessMap['agents'][number]
  readonly cells: ReadonlyMap<string, MapCell>
  readonly total: number
}

/** Agents with most calls first, APIs too. A word chooses agents or APIs. */
function Matrix({ map, q }: { map: AccessMap; q: string }) {
  const { rows, apis, left } = useMemo(() => chosen(map, q), [map, q])
  const { first, more } = useFirst(rows, AGENTS_SHOWN)
  return (
    <section class="map">
      <Table
        caption="Access map"
        rows={first}
        keyOf={({ agent }) => agent.agent_id}
        empty="No agent and no API has this in its name."
        columns={[
          {
            head: 'Agent',
            cell: ({ agent }) => <AgentLink id={agent.agent_id} name={agent.agent_name} />,
          },
          ...apis.map(
            ({ integration_id, name }, at): Column<Row> => ({
              isExtra: at >= APIS_BESIDE_MENU,
              head: name,
              isNumber: true,
              cell: ({ agent, cells }) => {
                const cell = cells.get(integration_id)
                return cell && <CellLink cell={cell} agent={agent.agent_name} api={name} />
              },
            }),
          ),
        ]}
      />
      <p class="muted">
        {countOf(rows.length, 'agent')}, {countOf(apis.length, 'API')}
        {left > 0 && `, and ${countOf(left, 'further API')} with fewer calls: search for them`}.
      </p>
      {more}
    </section>
  )
}

function chosen({ agents, integrations, cells }: AccessMap, q: string) {
  const byAgent = new Map<string, Map<string, MapCell>>()
  const totals = new Map<string, number>()
  for (const cell of cells) {
    const own = byAgent.get(cell.agent_id) ?? new Map<string, MapCell>()
    own.set(cell.integration_id, cell)
    byAgent.set(cell.agent_id, own)
    const calls = cell.allowed + cell.refused
    totals.set(cell.integration_id, (totals.get(cell.integration_id) ?? 0) + calls)
  }
  const has = (text: string): boolean => text.toLowerCase().includes(q)
  const named = integrations.filter(({ name }) => has(name))
  // A word of an API shows its column; one of an agent its row with all APIs.
  const ofApis = q !== '' && named.length > 0
  const all = (ofApis ? named : integrations).toSorted(
    (a, b) => (totals.get(b.integration_id) ?? 0) - (totals.get(a.integration_id) ?? 0),
  )
  const apis = all.slice(0, APIS_SHOWN)
  const rows = agents
    .filter(
      ({ agent_id, agent_name }) =>
        has(agent_name) ||
        (ofApis && apis.some((api) => byAgent.get(agent_id)?.has(api.integration_id))),
    )
    .map((agent): Row => {
      const own = byAgent.get(agent.agent_id) ?? new Map<string, MapCell>()
      let total = 0
      for (const { allowed, refused } of own.values()) total += allowed + refused
      return { agent, cells: own, total }
    })
    .toSorted((a, b) => b.total - a.total)
  return { rows, apis, left: all.length - apis.length }
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function CellLink({ cell, agent, api }: { cell: MapCell; agent: string; api: string }) {
  const { scopes, allowed, refused, agent_id, integration_id } = cell
  const [scope] = scopes
  const kind = kindOf(cell)
  const words = `${agent} on ${api}: ${countOf(allowed, 'call')}, ${refused.toLocaleString()} refused; ${
    scope === undefined ? 'no scope' : `scope ${scopes.map(({ name }) => name).join(', ')}`
  }`
  const shown = kind === 'unused' ? kind : short.format(kind === 'denied' ? refused : allowed)
  const href =
    scope === undefined
      ? linkTo(['activity'], { agent_id, integration_id })
      : linkTo(['scopes', scope.scope_id])
  return (
    <a class={`map-cell ${kind}`} href={href} title={words} aria-label={`${shown}. ${words}`}>
      {shown}
    </a>
  )
}

function kindOf({ scopes, allowed, refused }: MapCell): 'used' | 'refused' | 'unused' | 'denied' {
  if (scopes.length === 0 && allowed === 0) return 'denied'
  if (allowed === 0 && refused === 0) return 'unused'
  return refused > 0 ? 'refused' : 'used'
}

/** Those of one agent that allowed no call in the time, the oldest first. */
const unusedScopes = (map: AccessMap) =>
  map.cells
    .filter(({ allowed }) => allowed === 0)
    .flatMap(({ agent_id, integration_id, scopes }) =>
      scopes
        .filter(({ is_selecting }) => !is_selecting)
        .map((scope) => ({ agent_id, integration_id, scope })),
    )
    .toSorted((a, b) => (a.scope.created_at < b.scope.created_at ? -1 : 1))

/** Scopes that can be removed. */
function Unused({ map, onRemoved }: { map: AccessMap; onRemoved: () => void }) {
  const mayChange = useMay('admin')
  const names = useMemo(
    () => ({
      agents: new Map(map.agents.map(({ agent_id, agent_name }) => [agent_id, agent_name])),
      apis: new Map(map.integrations.map(({ integration_id, name }) => [integration_id, name])),
    }),
    [map],
  )
  const unused = useMemo(() => unusedScopes(map), [map])
  const { first, more } = useFirst(unused, UNUSED_SHOWN)
  return (
    <section>
      <h2>Never used ({unused.length.toLocaleString()})</h2>
      <p class="muted">
        Scopes of one agent that have allowed no call since <Time at={map.from} />.
      </p>
      <Table
        caption="Never used"
        rows={first}
        keyOf={({ scope }) => scope.scope_id}
        empty="There is none."
        columns={[
          {
            head: 'Scope',
            cell: ({ scope }) => <a href={linkTo(['scopes', scope.scope_id])}>{scope.name}</a>,
          },
          {
            head: 'Agent',
            cell: ({ agent_id }) => (
              <AgentLink id={agent_id} name={names.agents.get(agent_id) ?? null} />
            ),
          },
          { head: 'API', cell: ({ integration_id }) => names.apis.get(integration_id) },
          { head: 'Created', cell: ({ scope }) => <Time at={scope.created_at} /> },
          ...(mayChange
            ? [
                {
                  head: 'Actions',
                  cell: ({ scope }: (typeof unused)[number]) => (
                    <ConfirmButton
                      label="Remove"
                      title={`Remove the scope ${scope.name}?`}
                      work={() => ask('DELETE', `/admin/scopes/${scope.scope_id}`)}
                      onDone={onRemoved}
                    >
                      <p>Calls that it allows are refused from then on.</p>
                    </ConfirmButton>
                  ),
                },
              ]
            : []),
        ]}
      />
      {more}
    </section>
  )
}
