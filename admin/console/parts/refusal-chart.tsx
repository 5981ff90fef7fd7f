import type { Series } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { goTo, linkTo } from '../place.ts'
import { reasonTitle } from '../reason-title.ts'
import type { TimeRange } from '../time-ranges.ts'
import { useLoad } from '../use-load.ts'
import { Loaded } from './notices.tsx'
import { StaleNote } from './stale-note.tsx'
import { StackedChart, toneOf } from './stacked-chart.tsx'

const EVERY_MS = 15_000
const HEIGHT = 150
const GROUPS = '7'

/** Refused calls by reason over time; a choice in it leads to their entries. */
export function RefusalChart({ range, from }: { range: TimeRange; from: string }) {
  const series = useLoad<Series>(
    withQuery('/admin/activity/series', {
      by: 'reason',
      decision: 'blocked',
      count: 'calls',
      groups: GROUPS,
      step: String(range.step_s),
      from,
    }),
    EVERY_MS,
    range.key,
  )
  return (
    <section>
      <div class="titled">
        <h2>Refused, by reason</h2>
        <StaleNote of={series} />
      </div>
      <Loaded from={series}>{(value) => <Chart series={value} />}</Loaded>
    </section>
  )
}

function Chart({ series }: { series: Series }) {
  const others = series.others.reduce((sum, one) => sum + one, 0)
  const groups = [
    ...series.groups.map(({ value, counts }) => ({ title: reasonTitle(value), counts })),
    ...(others > 0 ? [{ title: 'Other reasons', counts: series.others }] : []),
  ]
  if (groups.length === 0) return <p class="empty">No call was refused in this time.</p>
  return (
    <>
      <ul class="legend">
        {series.groups.map(({ value, total }, at) => (
          <li key={value}>
            <a
              href={linkTo(['activity'], {
                decision: 'blocked',
                reason: value ?? undefined,
                from: series.from,
                to: series.to,
              })}
            >
              <span class={`swatch ${toneOf(at)}`} /> {reasonTitle(value)} {total.toLocaleString()}
            </a>
          </li>
        ))}
      </ul>
      <StackedChart
        label="Refused calls by reason"
        from_ms={Date.parse(series.from)}
        step_ms={series.step * 1000}
        groups={groups}
        height={HEIGHT}
        onRange={({ from_ms, to_ms }) =>
          goTo(['activity'], {
            decision: 'blocked',
            from: new Date(from_ms).toISOString(),
            to: new Date(to_ms).toISOString(),
          })
        }
      />
    </>
  )
}
