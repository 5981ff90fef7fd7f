import type { ActivityEntry } from '../api-types.ts'
import { eventTitle } from '../event-title.ts'
import { linkTo } from '../place.ts'
import { summaryOf } from '../summary-of.ts'
import { Tag } from './bits.tsx'
import { MethodAndPath } from './method-and-path.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

/** Entries of one agent, newest first, each with a link to its details. */
export const EntryTable = ({
  entries,
  empty,
  query,
}: {
  entries: readonly ActivityEntry[]
  empty: string
  /** The filter of the list, which stays when an entry is opened. */
  query: Readonly<Record<string, string>>
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
      {
        head: 'Call',
        cell: (entry) =>
          entry.method !== null && (
            <>
              <MethodAndPath entry={entry} />{' '}
              {entry.status !== null && <span class="muted">{entry.status}</span>}
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
