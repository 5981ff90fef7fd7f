import type { Agent, Alert, Page, Series } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { lastText } from '../last-text.ts'
import { linkTo } from '../place.ts'
import type { TimeRange } from '../time-ranges.ts'
import { useLoad } from '../use-load.ts'
import { useNames } from '../use-names.ts'
import { AgentLink, Tag } from './bits.tsx'
import { Loaded } from './notices.tsx'
import { Sparkline } from './sparkline.tsx'
import { StaleNote } from './stale-note.tsx'
import { Table } from './table.tsx'

const EVERY_MS = 15_000
const SHOWN = 10
const ALERT_RANK: Readonly<Record<Alert['severity'], number>> = { critical: 3, high: 2, medium: 1 }

interface Row {
  readonly agent_id: string
  readonly isKilled: boolean
  readonly isStillCalling: boolean
  readonly alert: Alert | null
  readonly calls: readonly number[]
  readonly refused: readonly number[]
  readonly total: number
  readonly totalRefused: number
}

/** Agents of a range, those in trouble first: killed and still calling, with open alerts, with many refusals. */
export function BusyAgents({
  range,
  from,
  alerts,
}: {
  range: TimeRange
  from: string
  /** The open ones. */
  alerts: readonly Alert[]
}) {
  const path = (more: Readonly<Record<string, string>>): string =>
    withQuery('/admin/activity/series', {
      by: 'agent_id',
      count: 'calls',
      groups: '100',
      step: String(range.spark_s),
      from,
      ...more,
    })
  const calls = useLoad<Series>(path({}), EVERY_MS, range.key)
  const refused = useLoad<Series>(path({ decision: 'blocked' }), EVERY_MS, range.key)
  const killed = useLoad<Page<Agent>>('/admin/agents?status=killed&limit=200', EVERY_MS).value
  const nameOf = useNames('agents')
  return (
    <section>
      <div class="titled">
        <h2>Agents, those in trouble first</h2>
        <StaleNote of={calls.problem === null ? refused : calls} />
      </div>
      <Loaded from={calls}>
        {(series) => (
          <Table
            caption="Agents, those in trouble first"
            rows={rowsOf(series, refused.value, alerts, killed?.data ?? []).slice(0, SHOWN)}
            keyOf={({ agent_id }) => agent_id}
            empty="No agent made a call in this time."
            columns={[
              {
                head: 'Agent',
                cell: ({ agent_id }) => <AgentLink id={agent_id} name={nameOf(agent_id)} />,
              },
              { head: 'State', cell: (row) => <Trouble row={row} /> },
              {
                head: 'Calls over time',
                cell: (row) => <Sparkline counts={row.calls} tone="calls" />,
              },
              { head: 'Calls', isNumber: true, cell: ({ total }) => total.toLocaleString() },
              {
                head: 'Refusals over time',
                cell: (row) => <Sparkline counts={row.refused} tone="refused" />,
              },
              {
                head: 'Refused',
                isNumber: true,
                cell: ({ agent_id, totalRefused }) => (
                  <a href={linkTo(['activity'], { agent_id, decision: 'blocked', from })}>
                    {totalRefused.toLocaleString()}
                  </a>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}

const Trouble = ({ row: { isKilled, isStillCalling, alert } }: { row: Row }) => (
  <>
    {isKilled && (
      <>
        <Tag text="killed" /> {isStillCalling && 'still calling'}
      </>
    )}
    {!isKilled && alert !== null && (
      <>
        <Tag text={alert.severity} /> {alert.title}
      </>
    )}
  </>
)

function rowsOf(
  series: Series,
  refused: Series | null,
  alerts: readonly Alert[],
  killed: readonly Agent[],
): readonly Row[] {
  const refusals = new Map((refused?.groups ?? []).map((group) => [group.value, group]))
  const stopped = new Map(killed.map(({ agent_id, killed_at }) => [agent_id, killed_at]))
  // A point that began after the kill has only calls made after it.
  const callsSince = (counts: readonly number[], killed_at: string | null): boolean => {
    const first = (Date.parse(killed_at ?? '') - Date.parse(series.from)) / (series.step * 1000)
    return counts.some((count, at) => at >= first && count > 0)
  }
  const worst = new Map<string, Alert>()
  for (const alert of alerts) {
    const agent_id = lastText(alert.last, 'agent_id')
    if (agent_id === null) continue
    const before = worst.get(agent_id)
    if (before === undefined || ALERT_RANK[alert.severity] > ALERT_RANK[before.severity])
      worst.set(agent_id, alert)
  }
  const rows = series.groups.flatMap(({ value: agent_id, counts, total }) =>
    agent_id === null
      ? []
      : [
          {
            agent_id,
            isKilled: stopped.has(agent_id),
            isStillCalling:
              stopped.has(agent_id) && callsSince(counts, stopped.get(agent_id) ?? null),
            alert: worst.get(agent_id) ?? null,
            calls: counts,
            refused: refusals.get(agent_id)?.counts ?? [],
            total,
            totalRefused: refusals.get(agent_id)?.total ?? 0,
          },
        ],
  )
  const trouble = ({ isStillCalling, alert }: Row): number =>
    isStillCalling ? 4 : alert === null ? 0 : ALERT_RANK[alert.severity]
  return rows.toSorted(
    (a, b) => trouble(b) - trouble(a) || b.totalRefused - a.totalRefused || b.total - a.total,
  )
}
