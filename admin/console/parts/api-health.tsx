import { withQuery } from '../api.ts'
import type { ActivityEntry, Page, Series } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { quantile } from '../quantile.ts'
import { timeRange } from '../time-ranges.ts'
import { useLoad } from '../use-load.ts'
import { useMinute } from '../use-minute.ts'
import { useNames } from '../use-names.ts'
import { Loaded } from './notices.tsx'
import { Sparkline } from './sparkline.tsx'
import { StaleNote } from './stale-note.tsx'
import { type Column, Table } from './table.tsx'
import { tookText } from './trace.tsx'

const EVERY_MS = 15_000
/** Times and statuses are those of the newest calls, so that the page costs the same however long the log is. */
const SAMPLE = 200
const APIS_SHOWN = 50

interface Sampled {
  readonly gateway_us: number[]
  readonly api_us: number[]
  readonly errors: Map<number, number>
}

/** How APIs answer: calls of a day, and the time of the gateway and of the API apart. @param only one of them */
export function ApiHealth({ only }: { only?: string }) {
  const range = timeRange(undefined)
  const from = new Date(useMinute() - range.ms).toISOString()
  const series = (decision?: string): string =>
    withQuery('/admin/activity/series', {
      by: 'integration_id',
      count: 'calls',
      groups: String(APIS_SHOWN),
      step: String(range.spark_s),
      from,
      integration_id: only,
      decision,
    })
  const calls = useLoad<Series>(series(), EVERY_MS, only ?? '')
  const refused = useLoad<Series>(series('blocked'), EVERY_MS, only ?? '')
  const query = { decision: 'allowed', limit: String(SAMPLE), integration_id: only }
  const newest = useLoad<Page<ActivityEntry>>(withQuery('/admin/activity', query), EVERY_MS)
  const sampled = sampleOf(newest.value?.data ?? [])
  const nameOf = useNames('integrations')
  return (
    <section>
      <div class="titled">
        <h2>API health</h2>
        <StaleNote of={calls.problem === null ? newest : calls} />
      </div>
      <p class="muted">
        Calls of the last {range.title}. p50, p95 and errors are of the newest {SAMPLE} calls
        {only === undefined ? ' of all APIs' : ''}.
      </p>
      <Loaded from={calls}>
        {({ groups }) => (
          <Table
            caption="API health"
            rows={groups.filter(({ value }) => value !== null)}
            keyOf={({ value }) => value ?? ''}
            empty={`No call in the last ${range.title}.`}
            columns={[
              {
                head: 'API',
                cell: ({ value: id }) => (
                  <a href={linkTo(['integrations', id ?? ''])}>{nameOf(id ?? '')}</a>
                ),
              },
              ...columnsOf(refused.value, sampled),
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}

function columnsOf(
  refused: Series | null,
  sampled: ReadonlyMap<string | null, Sampled>,
): readonly Column<Series['groups'][number]>[] {
  const refusals = new Map(refused?.groups.map(({ value, total }) => [value, total]))
  return [
    {
      head: 'Calls over time',
      cell: ({ counts }) => <Sparkline counts={counts} tone="calls" />,
    },
    { head: 'Calls', isNumber: true, cell: ({ total }) => total.toLocaleString() },
    {
      head: 'Refused',
      isExtra: true,
      isNumber: true,
      cell: ({ value }) => (refusals.get(value) ?? 0).toLocaleString(),
    },
    {
      head: 'Gateway p50, p95',
      isNumber: true,
      cell: ({ value }) => timesOf(sampled.get(value)?.gateway_us),
    },
    {
      head: 'API p50, p95',
      isNumber: true,
      cell: ({ value }) => timesOf(sampled.get(value)?.api_us),
    },
    {
      head: 'Errors by status',
      cell: ({ value }) => <Errors of={value ?? ''} sampled={sampled.get(value)} />,
    },
  ]
}

const timesOf = (times: readonly number[] = []): string =>
  times.length === 0 ? '–' : [0.5, 0.95].map((at) => tookText(quantile(times, at))).join(', ')

function Errors({ of, sampled }: { of: string; sampled: Sampled | undefined }) {
  if (sampled === undefined) return <>–</>
  if (sampled.errors.size === 0) return <>none</>
  return (
    <>
      {[...sampled.errors]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => (
          <span key={status}>
            <a href={linkTo(['activity'], { integration_id: of, status: String(status) })}>
              {status}
            </a>{' '}
            × {count}{' '}
          </span>
        ))}
    </>
  )
}

/** The gateway's time is that of its steps; the rest of a call is that of the API and of the way to it. */
function sampleOf(entries: readonly ActivityEntry[]): ReadonlyMap<string | null, Sampled> {
  const found = new Map<string | null, Sampled>()
  for (const { integration_id, status, duration_ms, steps } of entries) {
    const own: Sampled = found.get(integration_id) ?? {
      gateway_us: [],
      api_us: [],
      errors: new Map(),
    }
    found.set(integration_id, own)
    const gateway_us = steps.reduce((sum, { took_us }) => sum + took_us, 0)
    own.gateway_us.push(gateway_us)
    if (duration_ms !== null)
      own.api_us.push(Math.max(0, Math.round(duration_ms * 1000 - gateway_us)))
    if (status !== null && status >= 400) own.errors.set(status, (own.errors.get(status) ?? 0) + 1)
  }
  return found
}
