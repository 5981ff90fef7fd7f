import { withQuery } from '../api.ts'
import type { Kill } from '../api-types.ts'
import { killColumns } from '../parts/kill-rows.tsx'
import { PagedTable } from '../parts/table.tsx'
import { linkTo } from '../place.ts'
import { usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'

/** The kept receipts of kills, of all agents or of one. */
export function KillsPage({ query }: { query: Readonly<Record<string, string>> }) {
  const { agent_id } = query
  const kills = usePages<Kill>(withQuery('/admin/kills', { agent_id }))
  const agentName = useNames('agents')
  return (
    <>
      <h1>Kills</h1>
      {agent_id !== undefined && (
        <p>
          Of <a href={linkTo(['agents', agent_id])}>{agentName(agent_id)}</a>.{' '}
          <a href={linkTo(['kills'])}>View all kills</a>
        </p>
      )}
      <PagedTable
        pages={kills}
        caption="Kills"
        keyOf={({ kill_id }) => kill_id}
        empty="No kills. The newest 1,000 are kept."
        columns={killColumns(agent_id !== undefined)}
      />
    </>
  )
}
