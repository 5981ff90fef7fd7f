import { useRef } from 'preact/hooks'
import type { Alert, Page, Readiness, Stats } from '../api-types.ts'
import { eventTitle } from '../event-title.ts'
import { lazy } from '../lazy.tsx'
import { Facts, Tag } from '../parts/bits.tsx'
import { BusyAgents } from '../parts/busy-agents.tsx'
import { KeyFigures } from '../parts/key-figures.tsx'
import { RefusalChart } from '../parts/refusal-chart.tsx'
import { TimePresets } from '../parts/time-presets.tsx'
import { EdgeList } from '../parts/edge-list.tsx'
import { Loaded } from '../parts/notices.tsx'
import { NeedsYou } from '../parts/needs-you.tsx'
import { linkTo } from '../place.ts'
import { timeRange } from '../time-ranges.ts'
import { useLoad } from '../use-load.ts'
import { useMinute } from '../use-minute.ts'

export const loadFirstSteps = () => import('../bundles/first-steps.ts')
const FirstSteps = lazy(loadFirstSteps, 'FirstSteps')

const EVERY_MS = 5000
const ALERTS_OF_AGENTS = '/admin/alerts?status=open&concern=agents&sort=severity&limit=200'
/** Rows of what needs an operator. */
const NEEDS_SHOWN = 6

export function OverviewPage({ query }: { query: Readonly<Record<string, string>> }) {
  const stats = useLoad<Stats>('/admin/stats', EVERY_MS)
  const alerts = useLoad<Page<Alert>>(ALERTS_OF_AGENTS, EVERY_MS)
  const range = timeRange(query['range'])
  const from = new Date(useMinute() - range.ms).toISOString()
  return (
    <>
      <div class="head">
        <h1>Overview</h1>
        <TimePresets parts={[]} query={query} current={range.key} />
      </div>
      <ReadinessLine />
      <Loaded from={stats}>{(value) => <Beginning stats={value} />}</Loaded>
      <NeedsYou limit={NEEDS_SHOWN} />
      <KeyFigures range={range} from={from} stats={stats.value} />
      <RefusalChart range={range} from={from} />
      <BusyAgents range={range} from={from} alerts={alerts.value?.data ?? []} />
      <Loaded from={stats}>{(value) => <Counts stats={value} />}</Loaded>
      <section>
        <h2>Edges</h2>
        <EdgeList />
      </section>
      <Loaded from={stats}>{(value) => <Events stats={value} />}</Loaded>
    </>
  )
}

/** Once shown it stays, since its last step is the first call. */
function Beginning({ stats }: { stats: Stats }) {
  const isShown = useRef(false)
  isShown.current ||= (stats.activity.by_decision['allowed'] ?? 0) === 0
  return isShown.current ? <FirstSteps stats={stats} /> : null
}

function ReadinessLine() {
  const { value, problem } = useLoad<Readiness>('/readyz', EVERY_MS)
  // A service that is not ready says so with a 503 and the same body.
  const readiness = problem === null ? value : (problem.body as Readiness | null | undefined)
  if (!readiness?.parts) return null
  // What is missing is in the banner of every page.
  if (!readiness.ready) return null
  return (
    <p>
      <Tag text="ok" /> Ready: store, edge and proxy respond.
    </p>
  )
}

function Counts({ stats }: { stats: Stats }) {
  const { agents, integrations, scopes, webhooks, alerts, edges } = stats
  const counts: readonly (readonly [string, number, string | null, boolean?])[] = [
    ['Open alerts', alerts.open, linkTo(['alerts']), alerts.open > 0],
    ['Live edges', edges.live, null, edges.live === 0],
    ['Active agents', agents.active, linkTo(['agents'], { status: 'active' })],
    ['Killed agents', agents.killed, linkTo(['agents'], { status: 'killed' })],
    ['Integrations', integrations, linkTo(['integrations'])],
    ['Scopes', scopes, linkTo(['scopes'])],
    ['Webhooks', webhooks.active + webhooks.failing, linkTo(['webhooks'])],
    ['Failing webhooks', webhooks.failing, linkTo(['webhooks']), webhooks.failing > 0],
  ]
  return (
    <ul class="counts">
      {counts.map(([name, count, href, isBad]) => (
        <li key={name} class={isBad ? 'bad' : ''}>
          {href === null ? (
            <Count of={count} name={name} />
          ) : (
            <a href={href}>
              <Count of={count} name={name} />
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

const Count = ({ of, name }: { of: number; name: string }) => (
  <span>
    <strong>{of.toLocaleString()}</strong> {name}
  </span>
)

function Events({ stats: { activity } }: { stats: Stats }) {
  const { entries, by_event } = activity
  return (
    <section>
      <h2>Activity log</h2>
      <Facts
        facts={[
          ['All entries', entries.toLocaleString()] as const,
          ...Object.entries(by_event)
            .filter(([, count]) => count > 0)
            .map(
              ([event, count]) =>
                [
                  eventTitle(event),
                  <a key={event} href={linkTo(['activity'], { event })}>
                    {count.toLocaleString()}
                  </a>,
                ] as const,
            ),
        ]}
      />
    </section>
  )
}
