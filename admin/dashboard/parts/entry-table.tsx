import type { Entry } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { AgentLink, Tag } from './bits.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

/** Entries of the activity log, newest first, each with the way to all that is known of it. */
export const EntryTable = ({
  entries,
  empty,
  ofOneAgent = false,
}: {
  entries: readonly Entry[]
  empty: string
  ofOneAgent?: boolean
}) => (
  <Table
    caption="Activity"
    rows={entries}
    keyOf={({ id }) => id}
    empty={empty}
    columns={[
      {
        head: 'Time',
        cell: ({ id, timestamp }) => (
          <a href={linkTo(['activity', id])}>
            <Time at={timestamp} />
          </a>
        ),
      },
      { head: 'Event', cell: ({ event }) => <span class="word">{event}</span> },
      ...(ofOneAgent
        ? []
        : [
            {
              head: 'Agent',
              cell: ({ agent_id, agent_name }: Entry) =>
                agent_id !== null && <AgentLink id={agent_id} name={agent_name} />,
            },
          ]),
      {
        head: 'Call',
        cell: ({ method, endpoint, status }) =>
          method !== null && (
            <>
              <code>
                {method} {endpoint}
              </code>{' '}
              {status !== null && <span class="muted">{status}</span>}
            </>
          ),
      },
      {
        head: 'Decision',
        cell: ({ decision }) => decision !== null && <Tag text={decision} />,
      },
      { head: 'Why', cell: (entry) => whyOf(entry) },
    ]}
  />
)

/** The few words that tell an entry from others of its event. */
function whyOf({ event, method, reason, data }: Entry): string {
  const text = (name: string): string => {
    const value = data[name]
    return typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value)
  }
  // What a flood was counted as (core/activity/flood-entry.ts).
  if (method === null && typeof data['suppressed'] === 'number')
    return `${reason}: ${data['suppressed']} more were counted`
  switch (event) {
    case 'injection_blocked':
    case 'injection_detected':
      return `${text('pattern_name')} in ${text('location')}: ${text('matched_text')}`
    case 'agent_killed':
      return `${text('kill_method')}, by ${text('triggered_by')}: ${text('reason')}`
    case 'anomaly_detected':
      return `${text('anomaly_score')}: ${text('anomaly_types')}`
    case 'mcp_tool_blocked':
      return `${text('tool_name')}: ${text('reason')}`
    case 'admin_action':
      return `${text('actor')} ${text('action')} ${text('target')}`
    default:
      return text('reason') || (reason ?? '')
  }
}
