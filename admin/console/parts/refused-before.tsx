import type { ActivityEntry, Page } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { countOf } from '../count-of.ts'
import type { FixableEntry } from '../fixes-of.ts'
import { useLoad } from '../use-load.ts'

const DAYS_MS = 7 * 24 * 3_600_000
/** Entries that are looked at; beyond them the numbers are lower bounds. */
const LOOKED_AT = '200'

/** What was refused in the last seven days for the same cause: "5 calls, 3 of them for this text". */
export function RefusedBefore({
  entry: { event, reason, agent_id, integration_id },
  what,
  isLike,
}: {
  entry: FixableEntry
  what?: string
  isLike?: (entry: ActivityEntry) => boolean
}) {
  const found = useLoad<Page<ActivityEntry>>(
    agent_id === null
      ? null
      : withQuery('/admin/activity', {
          ...(reason === null ? { event } : { reason }),
          agent_id,
          integration_id: integration_id ?? '',
          from: new Date(Math.floor(Date.now() / 60_000) * 60_000 - DAYS_MS).toISOString(),
          limit: LOOKED_AT,
        }),
  ).value
  if (agent_id === null) return null
  if (found === null) return <p role="status">Counting what was refused …</p>
  const least = found.next_cursor === null ? '' : 'at least '
  return (
    <p role="status">
      In the last 7 days: {least}
      {countOf(found.data.length, 'such call')} of this agent
      {isLike !== undefined && `, ${found.data.filter(isLike).length} with ${what}`}.
    </p>
  )
}
