import type { Series } from '../api-types.ts'
import { withQuery } from '../api.ts'
import { countOf } from '../count-of.ts'
import { useLoad } from '../use-load.ts'

const MINUTE_MS = 60_000
const MINUTES = 15
const EVERY_MS = 15_000

/** How many calls of a killed agent were refused lately; nothing if there were none. */
export function StillCalling({ agent_id }: { agent_id: string }) {
  const end_ms = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  const path = withQuery('/admin/activity/series', {
    agent_id,
    reason: 'agent_killed',
    count: 'calls',
    step: '300',
    from: new Date(end_ms - MINUTES * MINUTE_MS).toISOString(),
  })
  const total = useLoad<Series>(path, EVERY_MS, `still calling ${agent_id}`).value?.groups[0]?.total
  if (!total) return null
  return (
    <strong>
      It is still calling: {countOf(total, 'call')} refused in {MINUTES} minutes.
    </strong>
  )
}
