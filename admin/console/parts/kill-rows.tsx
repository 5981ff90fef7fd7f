import type { Kill } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { AgentLink, Tag } from './bits.tsx'
import type { Column } from './table.tsx'
import { Time } from './time.tsx'

/** Whether a kill is in force everywhere, in one word. */
export const KillState = ({ kill: { counted_at, complete } }: { kill: Kill }) => (
  <Tag text={counted_at === null ? 'pending' : complete ? 'complete' : 'incomplete'} />
)

/** Columns of a list of kills; that of the agent is left out on its own page. */
export const killColumns = (ofOneAgent: boolean): readonly Column<Kill>[] => [
  {
    head: 'Time',
    cell: ({ kill_id, requested_at }) => (
      <a href={linkTo(['kills', kill_id])}>
        <Time at={requested_at} />
      </a>
    ),
  },
  ...(ofOneAgent
    ? []
    : [
        {
          head: 'Agent',
          cell: ({ agent_id, agent_name }: Kill) => <AgentLink id={agent_id} name={agent_name} />,
        },
      ]),
  { head: 'By', cell: ({ triggered_by, kill_method }) => `${triggered_by} (${kill_method})` },
  { head: 'Reason', cell: ({ reason }) => reason ?? <span class="muted">none given</span> },
  { head: 'State', cell: (kill) => <KillState kill={kill} /> },
  {
    head: 'Calls ended',
    isNumber: true,
    cell: ({ in_flight_requests_terminated: count }) => count,
  },
  {
    head: 'Took',
    isNumber: true,
    cell: ({ counted_at, propagation_ms }) => (counted_at === null ? '' : `${propagation_ms} ms`),
  },
]
