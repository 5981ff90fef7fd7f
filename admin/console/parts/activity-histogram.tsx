import type { Series } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { goTo } from '../place.ts'
import { useLoad } from '../use-load.ts'
import { StackedChart } from './stacked-chart.tsx'

type Query = Readonly<Record<string, string | undefined>>
const EVERY_MS = 15_000
const HEIGHT = 40
const TITLES: Readonly<Record<string, string>> = {
  allowed: 'Allowed',
  blocked: 'Refused',
  terminated: 'Terminated',
}
/** Always in this order, so that a colour means the same everywhere. */
const ORDER = ['blocked', 'terminated', 'allowed', null] as const

/** Entries over time, above the list; a range in it becomes the range of the list. */
export function ActivityHistogram({ filter, query }: { filter: Query; query: Query }) {
  // A text has no counts.
  const isCounted = [filter['q'], filter['request_id'], filter['status']].every(
    (one) => one === undefined,
  )
  const { value } = useLoad<Series>(
    isCounted ? withQuery('/admin/activity/series', { ...filter, by: 'decision' }) : null,
    EVERY_MS,
  )
  if (value === null || value.groups.length === 0) return null
  const length = value.groups[0]?.counts.length ?? 0
  const groups = ORDER.map((decision) => ({
    title: decision === null ? 'Other' : (TITLES[decision] ?? decision),
    counts:
      value.groups.find((group) => group.value === decision)?.counts ??
      Array.from({ length }, () => 0),
  }))
  return (
    <div class="low histogram">
      <StackedChart
        label="Entries over time"
        from_ms={Date.parse(value.from)}
        step_ms={value.step * 1000}
        groups={groups}
        height={HEIGHT}
        onRange={({ from_ms, to_ms }) =>
          goTo(['activity'], {
            ...query,
            live: undefined,
            range: undefined,
            from: new Date(from_ms).toISOString(),
            to: new Date(to_ms).toISOString(),
          })
        }
      />
    </div>
  )
}
