import { useMemo } from 'preact/hooks'
import type { ActivityEntry, Page, Series, Stats } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { linkTo } from '../place.ts'
import type { TimeRange } from '../time-ranges.ts'
import { useLoad } from '../use-load.ts'
import { StaleNote } from './stale-note.tsx'

const EVERY_MS = 15_000
/** The newest calls whose added time is shown. */
const SAMPLE = 50

/** What was called and refused in a range, against the same time before it. */
export function KeyFigures({
  range,
  from,
  stats,
}: {
  range: TimeRange
  from: string
  stats: Stats | null
}) {
  const before = new Date(Date.parse(from) - range.ms).toISOString()
  const loading = useLoad<Series>(
    withQuery('/admin/activity/series', {
      by: 'decision',
      count: 'calls',
      step: String(range.step_s),
      from: before,
    }),
    EVERY_MS,
    range.key,
  )
  const series = loading.value
  const added_ms = useAdded()
  // The counts may be those of an earlier minute.
  const [now, then] = useMemo(
    () => (series === null ? [null, null] : halves(series, Date.parse(from))),
    [series],
  )
  const share = now === null || now.calls === 0 ? null : (100 * now.refused) / now.calls
  const figures: readonly (readonly [string, string, string, string | null])[] = [
    [
      'Calls',
      text(now?.calls),
      change(now?.calls, then?.calls, range.title),
      linkTo(['activity'], { from }),
    ],
    [
      'Refused',
      text(now?.refused),
      change(now?.refused, then?.refused, range.title),
      linkTo(['activity'], { decision: 'blocked', from }),
    ],
    ['Refused share', share === null ? '–' : `${share.toFixed(1)} %`, '', null],
    ['In flight now', text(stats?.edges.in_flight), '', null],
    [
      'Added by the gateway',
      added_ms === null ? '–' : `${added_ms.toFixed(1)} ms`,
      `median of the last ${SAMPLE} calls`,
      null,
    ],
  ]
  return (
    <>
      <ul class="counts figures">
        {figures.map(([name, value, note, href]) => {
          const shown = (
            <span>
              <strong>{value}</strong> {name} {note !== '' && <small>{note}</small>}
            </span>
          )
          return <li key={name}>{href === null ? shown : <a href={href}>{shown}</a>}</li>
        })}
      </ul>
      <StaleNote of={loading} />
    </>
  )
}

const text = (count: number | undefined): string => count?.toLocaleString() ?? '–'

function change(now: number | undefined, then: number | undefined, title: string): string {
  if (now === undefined || then === undefined || then === 0) return ''
  const percent = Math.round((100 * (now - then)) / then)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent)} % vs. previous ${title}`
}

function halves(series: Series, from_ms: number) {
  const half = Math.round((from_ms - Date.parse(series.from)) / (series.step * 1000))
  const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)
  const of = (begin: number, end?: number) => {
    const totals = series.groups
      // Entries that report no call have no decision.
      .filter(({ value }) => value !== null)
      .map(({ value, counts }) => ({ value, total: sum(counts.slice(begin, end)) }))
    return {
      calls: sum(totals.map(({ total }) => total)),
      refused: sum(totals.filter(({ value }) => value === 'blocked').map(({ total }) => total)),
    }
  }
  return [of(Math.max(0, half)), half <= 0 ? null : of(0, half)] as const
}

/** What the steps of a decision took, in the middle of the newest calls. */
function useAdded(): number | null {
  const { value } = useLoad<Page<ActivityEntry>>(
    `/admin/activity?event=request_allowed&limit=${SAMPLE}`,
    EVERY_MS,
  )
  const added = (value?.data ?? [])
    .filter(({ steps }) => steps.length > 0)
    .map(({ steps }) => steps.reduce((sum, { took_us }) => sum + took_us, 0) / 1000)
    .toSorted((a, b) => a - b)
  return added[Math.floor(added.length / 2)] ?? null
}
