import type { Edge, Page } from '../api-types.ts'
import { useLoad } from '../use-load.ts'
import { Tag } from './bits.tsx'
import { Loaded } from './notices.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'

const EVERY_MS = 5000

/** The edges that hold their lease. */
export function EdgeList() {
  const edges = useLoad<Page<Edge>>('/admin/edges', EVERY_MS)
  return (
    <Loaded from={edges}>
      {({ data }) => (
        <Table
          caption="Live edges"
          rows={data}
          keyOf={({ edge_id }) => edge_id}
          empty="No live edges, so every call is refused. Start an ext-proc process."
          columns={[
            { head: 'Edge', cell: ({ edge_id }) => <code>{edge_id}</code> },
            { head: 'Region', cell: ({ region }) => region },
            { head: 'Version', cell: ({ version }) => version },
            {
              head: 'State',
              cell: ({ draining, role }) => <Tag text={draining ? 'draining' : role} />,
            },
            { head: 'In flight', isNumber: true, cell: ({ in_flight }) => in_flight },
            { head: 'Tunnels', isNumber: true, cell: ({ tunnels }) => tunnels },
            {
              head: 'Last heartbeat',
              cell: ({ beat_age_ms }) => (
                <Time at={new Date(edges.answered_ms - beat_age_ms).toISOString()} />
              ),
            },
            { head: 'Started', cell: ({ started_at }) => <Time at={started_at} /> },
          ]}
        />
      )}
    </Loaded>
  )
}
