import type { Kill } from '../api-types.ts'
import { EdgePicture } from './edge-picture.tsx'
import { Table } from './table.tsx'

/** What each edge did for a kill or a lock. */
export const EdgeRows = ({ edges }: { edges: Kill['edges'] }) => (
  <>
    <EdgePicture edges={edges} />
    <Table
      caption="Edges"
      rows={edges}
      keyOf={({ edge_id }) => edge_id}
      empty="No live edges."
      columns={[
        { head: 'Edge', cell: ({ edge_id }) => <code>{edge_id}</code> },
        { head: 'Region', cell: ({ region }) => region },
        {
          head: 'Confirmed',
          isNumber: true,
          cell: ({ acknowledged_ms: ms, is_too_old }) =>
            is_too_old ? 'too old' : ms === null ? 'no' : `after ${ms.toFixed(1)} ms`,
        },
        { head: 'Calls ended', isNumber: true, cell: ({ terminated }) => terminated },
        { head: 'Tunnels closed', isNumber: true, cell: ({ tunnels = 0 }) => tunnels },
        { head: 'Unconfirmed', isNumber: true, cell: ({ unconfirmed }) => unconfirmed },
      ]}
    />
  </>
)
