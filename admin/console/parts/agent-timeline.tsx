import { withQuery } from '../api.ts'
import type { ActivityEntry, Page, Series } from '../api-types.ts'
import { goTo } from '../place.ts'
import { quantile } from '../quantile.ts'
import { timeRange } from '../time-ranges.ts'
import { useLoad } from '../use-load.ts'
import { useMinute } from '../use-minute.ts'
import { Loaded } from './notices.tsx'
import { StackedChart } from './stacked-chart.tsx'
import { StaleNote } from './stale-note.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'
import { TimePresets } from './time-presets.tsx'
import { tookText } from './trace.tsx'

const EVERY_MS = 15_000
const HEIGHT = 120
/** Newest calls whose time is shown, however many there are in the range. */
const SAMPLE = '200'
const EVENTS = '30'
const ROWS_SHOWN = 50
/** As wide as the chart above (admin/console/parts/stacked-chart.tsx), so that all rows have one axis. */
const [WIDTH, MARGIN, LANE] = [1000, 34, 20]

/** What happened to an agent, beside its calls: rows below them. */
const LANES = [
  { title: 'Anomalies', tone: 'tone-0', events: ['anomaly_detected'] },
  { title: 'Kills', tone: 'tone-refused', events: ['agent_killed'] },
  { title: 'Changes', tone: 'tone-5', events: ['admin_action'] },
] as const

interface Lane {
  readonly title: string
  readonly tone: string
  readonly counts: readonly number[]
}

/** Calls, refusals, their time and what was done to an agent, on one axis. */
export function AgentTimeline({
  agent_id,
  query,
}: {
  agent_id: string
  query: Readonly<Record<string, string>>
}) {
  const range = timeRange(query['range'])
  const from = new Date(useMinute() - range.ms).toISOString()
  const series = (more: Readonly<Record<string, string>>): string =>
    withQuery('/admin/activity/series', { agent_id, from, step: String(range.step_s), ...more })
  const about = `${agent_id} ${range.key}`
  const calls = useLoad<Series>(series({ by: 'decision', count: 'calls' }), EVERY_MS, about)
  const events = useLoad<Series>(series({ by: 'event', groups: EVENTS }), EVERY_MS, about)
  const newest = useLoad<Page<ActivityEntry>>(
    withQuery('/admin/activity', { agent_id, from, decision: 'allowed', limit: SAMPLE }),
    EVERY_MS,
    about,
  )
  return (
    <section>
      <div class="titled">
        <h2>Timeline</h2>
        <StaleNote of={calls.problem === null ? events : calls} />
        <TimePresets parts={['agents', agent_id]} query={query} current={range.key} />
      </div>
      <Loaded from={calls}>
        {(value) => (
          <Rows
            agent_id={agent_id}
            calls={value}
            lanes={lanesOf(value, events.value)}
            times={timesOf(value, newest.value?.data ?? [])}
          />
        )}
      </Loaded>
    </section>
  )
}

function Rows({
  agent_id,
  calls,
  lanes,
  times,
}: {
  agent_id: string
  calls: Series
  lanes: readonly Lane[]
  times: readonly number[]
}) {
  const bars = Math.round((Date.parse(calls.to) - Date.parse(calls.from)) / (calls.step * 1000))
  const countsOf = (decision: string): readonly number[] =>
    calls.groups.find(({ value }) => value === decision)?.counts ??
    Array.from({ length: bars }, () => 0)
  const [allowed, refused] = [countsOf('allowed'), countsOf('blocked')]
  const isEmpty = calls.groups.length === 0 && lanes.every(({ counts }) => sum(counts) === 0)
  if (isEmpty) return <p class="empty">Nothing happened to this agent in this time.</p>
  const slowest = Math.max(0, ...times)
  return (
    <>
      <ul class="legend">
        <Key tone="tone-calls" title={`Allowed ${sum(allowed).toLocaleString()}`} />
        <Key tone="tone-refused" title={`Refused ${sum(refused).toLocaleString()}`} />
      </ul>
      <StackedChart
        label="Calls of this agent"
        from_ms={Date.parse(calls.from)}
        step_ms={calls.step * 1000}
        groups={[
          { title: 'allowed', counts: allowed, tone: 'tone-calls' },
          { title: 'refused', counts: refused, tone: 'tone-refused' },
        ]}
        height={HEIGHT}
        onRange={({ from_ms, to_ms }) =>
          goTo(['activity'], {
            agent_id,
            from: new Date(from_ms).toISOString(),
            to: new Date(to_ms).toISOString(),
          })
        }
      >
        <LaneRow
          title={`p95 of the newest ${SAMPLE} calls, at most ${tookText(slowest)}`}
          tone="tone-6"
          counts={times}
        />
        {lanes.map(({ title, tone, counts }) => (
          <LaneRow
            key={title}
            title={`${title} ${sum(counts)}`}
            tone={tone}
            counts={counts}
            isTick
          />
        ))}
      </StackedChart>
      <Behind calls={calls} allowed={allowed} refused={refused} times={times} lanes={lanes} />
    </>
  )
}

const Key = ({ tone, title }: { tone: string; title: string }) => (
  <li>
    <span class={`swatch ${tone}`} /> {title}
  </li>
)

/** @param isTick one mark for any number, so that a single kill is seen beside a hundred changes */
function LaneRow({
  title,
  tone,
  counts,
  isTick = false,
}: {
  title: string
  tone: string
  counts: readonly number[]
  isTick?: boolean
}) {
  const top = Math.max(1, ...counts)
  const wide = (WIDTH - MARGIN) / Math.max(1, counts.length)
  const path = counts
    .map((count, at) => {
      if (count === 0) return ''
      const high = isTick ? LANE : (count / top) * LANE
      const width = Math.max(4, wide * 0.86).toFixed(1)
      return `M${(MARGIN + at * wide).toFixed(1)} ${(LANE - high).toFixed(1)}h${width}v${high.toFixed(1)}h-${width}z`
    })
    .join('')
  return (
    <div class="lane" aria-hidden="true">
      <small>{title}</small>
      <svg viewBox={`0 0 ${WIDTH} ${LANE}`} preserveAspectRatio="none">
        <path class="axis" d={`M${MARGIN} ${LANE}H${WIDTH}`} />
        <path class={tone} d={path} />
      </svg>
    </div>
  )
}

/** The newest times at which anything happened. */
function Behind({
  calls,
  allowed,
  refused,
  times,
  lanes,
}: {
  calls: Series
  allowed: readonly number[]
  refused: readonly number[]
  times: readonly number[]
  lanes: readonly Lane[]
}) {
  const rows = allowed
    .map((_, at) => at)
    .filter((at) =>
      [allowed, refused, ...lanes.map(({ counts }) => counts)].some((all) => (all[at] ?? 0) > 0),
    )
    .toReversed()
  const first_ms = Date.parse(calls.from)
  return (
    <details>
      <summary>As a table</summary>
      <Table
        caption="Timeline"
        rows={rows.slice(0, ROWS_SHOWN)}
        keyOf={String}
        empty=""
        columns={[
          {
            head: 'From',
            cell: (at) => <Time at={new Date(first_ms + at * calls.step * 1000).toISOString()} />,
          },
          { head: 'Allowed', isNumber: true, cell: (at) => allowed[at] },
          { head: 'Refused', isNumber: true, cell: (at) => refused[at] },
          {
            head: 'p95',
            isNumber: true,
            cell: (at) => ((times[at] ?? 0) > 0 ? tookText(times[at] ?? 0) : '–'),
          },
          ...lanes.map(({ title, counts }) => ({
            head: title,
            isNumber: true,
            cell: (at: number) => counts[at] ?? 0,
          })),
        ]}
      />
      {rows.length > ROWS_SHOWN && <p class="muted">The newest {ROWS_SHOWN} rows.</p>}
    </details>
  )
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)

/** Both series have one range and step, so that their points are at the same places. */
function lanesOf(calls: Series, events: Series | null): readonly Lane[] {
  const isSame = events !== null && events.from === calls.from && events.step === calls.step
  return LANES.map(({ title, tone, events: names }) => {
    const groups = isSame
      ? events.groups.filter(({ value }) => names.some((name) => name === value))
      : []
    const [first] = groups
    const counts = (first?.counts ?? []).map((_, at) =>
      sum(groups.map((one) => one.counts[at] ?? 0)),
    )
    return { title, tone, counts }
  })
}

/** The p95 of the calls of each point, in µs. */
function timesOf({ from, to, step }: Series, entries: readonly ActivityEntry[]): readonly number[] {
  const [from_ms, step_ms] = [Date.parse(from), step * 1000]
  const points = Array.from(
    { length: Math.round((Date.parse(to) - from_ms) / step_ms) },
    (): number[] => [],
  )
  for (const { timestamp, duration_ms } of entries)
    if (duration_ms !== null)
      points[Math.floor((Date.parse(timestamp) - from_ms) / step_ms)]?.push(duration_ms * 1000)
  return points.map((own) => Math.round(quantile(own, 0.95)))
}
