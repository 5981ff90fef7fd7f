import type { Kill } from '../api-types.ts'
import { countOf } from '../count-of.ts'
import { AgentLink, Facts } from '../parts/bits.tsx'
import { EdgeRows } from '../parts/edge-rows.tsx'
import { KillState } from '../parts/kill-rows.tsx'
import { Loaded } from '../parts/notices.tsx'
import { Time } from '../parts/time.tsx'
import { linkTo } from '../place.ts'
import { useLoad } from '../use-load.ts'

const EVERY_MS = 2000

/** The receipt of one kill, which an operator can return to and pass on. */
export function KillPage({ kill_id }: { kill_id: string }) {
  const kill = useLoad<Kill>(`/admin/kills/${encodeURIComponent(kill_id)}`, EVERY_MS)
  return (
    <>
      <p>
        <a href={linkTo(['kills'])}>All kills</a>
      </p>
      <Loaded from={kill} page="Kill">
        {(value) => <Receipt kill={value} />}
      </Loaded>
    </>
  )
}

function Receipt({ kill }: { kill: Kill }) {
  const { agent_id, agent_name, counted_at } = kill
  return (
    <>
      <h1>
        Kill of {agent_name} <KillState kill={kill} />
      </h1>
      <p role="status">{sentenceOf(kill)}</p>
      <EdgeRows edges={kill.edges} />
      <Facts
        facts={[
          ['agent', <AgentLink key="a" id={agent_id} name={agent_name} />],
          ['requested', <Time key="r" at={kill.requested_at} isFull />],
          ...(kill.repeated
            ? [['first killed', <Time key="k" at={kill.killed_at} isFull />] as const]
            : []),
          ['by', `${kill.triggered_by} (${kill.kill_method})`],
          ['reason', kill.reason ?? <span class="muted">none given</span>],
          ['keys revoked', kill.credentials_revoked],
          ['calls ended', kill.in_flight_requests_terminated],
          ['tunnels closed', kill.tunnels_terminated],
          ['last call', kill.last_request === null ? 'none' : <code>{kill.last_request}</code>],
          ['calls in the hour before', kill.requests_last_hour],
          ['counted', <Time key="c" at={counted_at} isFull none="not yet" />],
          ['id', <code key="id">{kill.kill_id}</code>],
        ]}
      />
      {kill.still_usable_keys.length > 0 && (
        <p>
          Organization keys that it had used in the day before still worked for other agents:{' '}
          {kill.still_usable_keys.join(', ')}.
        </p>
      )}
      <p>
        <a href={linkTo(['activity'], { agent_id })}>View its activity</a> ·{' '}
        <a href={linkTo(['kills'], { agent_id })}>View all kills of this agent</a>
      </p>
    </>
  )
}

function sentenceOf({ counted_at, complete, edges, propagation_ms }: Kill): string {
  if (counted_at === null) return 'The kill has been published. The edges have not answered yet.'
  if (edges.length === 0)
    return 'In force. No edge was live; an edge that starts reads the kill before it serves calls.'
  const silent = edges.filter(({ acknowledged_ms }) => acknowledged_ms === null).length
  if (complete && silent === 0)
    return `In force on ${edges.length} of ${countOf(edges.length, 'edge')} after ${propagation_ms} ms.`
  if (complete)
    return `In force. ${silent} of ${countOf(edges.length, 'edge')} did not acknowledge, and ${silent === 1 ? 'its lease has expired, so it serves' : 'their leases have expired, so they serve'} no calls.`
  return `Not confirmed on every edge: ${silent} of ${edges.length} did not acknowledge. An edge that does not acknowledge stops serving when its lease expires.`
}
