import type { ActivityEntry } from '../api-types.ts'
import { eventTitle } from '../event-title.ts'
import { lazy } from '../lazy.tsx'
import { useLoad } from '../use-load.ts'
import { Dialog } from './dialog.tsx'
import { Loaded } from './notices.tsx'

export const loadEntryDetail = () => import('../bundles/entry-detail.ts')
const EntryDetail = lazy(loadEntryDetail, 'EntryDetail')

type Query = Readonly<Record<string, string>>

/** One entry beside the list. */
export function EntryDrawer({
  id,
  query,
  onClose,
}: {
  id: string
  query: Query
  onClose: () => void
}) {
  const entry = useLoad<ActivityEntry>(`/admin/activity/${encodeURIComponent(id)}`)
  const title = entry.value === null ? 'Entry' : eventTitle(entry.value.event)
  return (
    <Dialog title={title} kind="drawer" onClose={onClose}>
      <Loaded from={entry}>
        {(value) => <EntryDetail key={value.id} entry={value} query={query} />}
      </Loaded>
    </Dialog>
  )
}
