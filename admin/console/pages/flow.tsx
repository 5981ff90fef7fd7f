import { useRef } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { Flow } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { AgentLink } from '../parts/bits.tsx'
import { FlowPicture, rateText } from '../parts/flow-picture.tsx'
import { Loaded } from '../parts/notices.tsx'
import { StaleNote } from '../parts/stale-note.tsx'
import { Table } from '../parts/table.tsx'
import { linkTo } from '../place.ts'
import { useLoad } from '../use-load.ts'

const EVERY_MS = 5_000
const MINUTES = ['1', '5', '15', '60']
const DEFAULT = '5'

/** Which agents call which APIs now: a picture for a wall, and the table behind it. */
export function FlowPage({ query }: { query: Readonly<Record<string, string>> }) {
  const minutes = MINUTES.find((one) => one === query['minutes']) ?? DEFAULT
  const flow = useLoad<Flow>(withQuery('/admin/activity/flow', { minutes }), EVERY_MS)
  const wall = useRef<HTMLElement>(null)
  return (
    <section class="flow" ref={wall}>
      <div class="head">
        <h1>Live flow</h1>
        <nav class="presets" aria-label="Time range">
          {MINUTES.map((one) => (
            <a
              key={one}
              href={linkTo(['flow'], { minutes: one })}
              aria-current={one === minutes ? 'true' : undefined}
            >
              {one} min
            </a>
          ))}
        </nav>
        <StaleNote of={flow} />
        <button type="button" onClick={() => void wall.current?.requestFullscreen()}>
          Full screen
        </button>
      </div>
      <Loaded from={flow}>
        {(value) =>
          value.pairs.length === 0 ? (
            <p class="empty">
              {`No agent made a call in the last ${countOf(value.minutes, 'minute')}. `}
              {value.minutes < 60 ? (
                <a href={linkTo(['flow'], { minutes: '60' })}>Show the last hour</a>
              ) : (
                <a href={linkTo(['agents'])}>Show the agents</a>
              )}
            </p>
          ) : (
            <>
              <FlowPicture flow={value} />
              <Pairs flow={value} />
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function Pairs({ flow: { pairs, others, minutes, from } }: { flow: Flow }) {
  const left = others.allowed + others.refused
  const perMinute = (calls: number): string => rateText(calls, minutes)
  return (
    <details>
      <summary>As a table</summary>
      <Table
        caption="Calls a minute by agent and API"
        rows={pairs}
        keyOf={({ agent_id, integration_id }) => `${agent_id} ${integration_id}`}
        empty=""
        columns={[
          {
            head: 'Agent',
            cell: ({ agent_id, agent_name }) => <AgentLink id={agent_id} name={agent_name} />,
          },
          {
            head: 'API',
            cell: ({ integration_id: id, integration_name }) =>
              id === null ? (
                <span class="muted">none</span>
              ) : (
                <a href={linkTo(['integrations', id])}>{integration_name ?? id}</a>
              ),
          },
          {
            head: 'Allowed a minute',
            isNumber: true,
            cell: ({ allowed }) => perMinute(allowed),
          },
          {
            head: 'Refused a minute',
            isNumber: true,
            cell: ({ agent_id, integration_id, refused }) => (
              <a
                href={linkTo(['activity'], {
                  agent_id: agent_id ?? undefined,
                  integration_id: integration_id ?? undefined,
                  decision: 'blocked',
                  from,
                })}
              >
                {perMinute(refused)}
              </a>
            ),
          },
        ]}
      />
      {left > 0 && <p class="muted">And {perMinute(left)} calls a minute of further pairs.</p>}
    </details>
  )
}
