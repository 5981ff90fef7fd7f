import type { ActivityEntry } from '../api-types.ts'
import { eventTitle } from '../event-title.ts'
import { linkTo } from '../place.ts'
import { summaryOf } from '../summary-of.ts'
import { AgentLink, Tag } from './bits.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

/** Entries of the activity log, newest first, each with a link to its details. */
export const EntryTable = ({
  entries,
  empty,
  query = {},
  ofOneAgent = false,
}: {
  entries: readonly ActivityEntry[]
  empty: string
  /** The filter of the list, which stays when an entry is opened. */
  query?: Readonly<Record<string, string>>
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
          <a href={linkTo(['activity', id], query)}>
            <Time at={timestamp} />
          </a>
        ),
      },
      {
        head: 'Event',
        cell: ({ event }) => (
          <span class="word" title={event}>
            {eventTitle(event)}
          </span>
        ),
      },
      ...(ofOneAgent
        ? []
        : [
            {
              head: 'Agent',
              cell: ({ agent_id, agent_name }: ActivityEntry) =>
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
      { head: 'Why', cell: (entry) => summaryOf(entry) },
    ]}
  />
)
