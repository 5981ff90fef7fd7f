import { useState } from 'preact/hooks'
import { withQuery } from '../api.ts'
import type { Kill, Lock, Page } from '../api-types.ts'
import { AnyLockDialog } from '../parts/any-lock-dialog.tsx'
import { killColumns } from '../parts/kill-rows.tsx'
import { LockLines } from '../parts/lock-lines.tsx'
import { Loaded } from '../parts/notices.tsx'
import { PagedTable } from '../parts/table.tsx'
import { linkTo } from '../place.ts'
import { useMay } from '../session.ts'
import { useLoad, usePages } from '../use-load.ts'
import { useNames } from '../use-names.ts'

const EVERY_MS = 5000

/** The locks in force, and the kept receipts of kills, of all agents or of one. */
export function KillsPage({ query }: { query: Readonly<Record<string, string>> }) {
  const { agent_id } = query
  const kills = usePages<Kill>(withQuery('/admin/kills', { agent_id }))
  const locks = useLoad<Page<Lock>>('/admin/locks', EVERY_MS)
  const agentName = useNames('agents')
  const mayLock = useMay('operator')
  const [isLocking, setLocking] = useState(mayLock && query['do'] === 'lock')
  return (
    <>
      <div class="head">
        <h1>Kills and locks</h1>
        {mayLock && (
          <button type="button" class="danger quiet" onClick={() => setLocking(true)}>
            Lock …
          </button>
        )}
      </div>
      {agent_id === undefined ? (
        <section>
          <h2>Locks in force</h2>
          <Loaded from={locks}>
            {({ data }) =>
              data.length === 0 ? (
                <p class="empty">None. A lock pauses without a kill, and may end by itself.</p>
              ) : (
                <LockLines locks={data} onLifted={locks.reload} />
              )
            }
          </Loaded>
        </section>
      ) : (
        <p>
          Of <a href={linkTo(['agents', agent_id])}>{agentName(agent_id)}</a>.{' '}
          <a href={linkTo(['kills'])}>View all kills</a>
        </p>
      )}
      <section>
        <h2>Kills</h2>
        <PagedTable
          pages={kills}
          caption="Kills"
          keyOf={({ kill_id }) => kill_id}
          empty="No kills. The newest 1,000 are kept."
          columns={killColumns(agent_id !== undefined)}
        />
      </section>
      {isLocking && (
        <AnyLockDialog
          onClose={() => {
            setLocking(false)
            locks.reload()
          }}
        />
      )}
    </>
  )
}
