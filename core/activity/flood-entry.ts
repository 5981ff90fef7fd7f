import type { Reason } from '../catalogue/reasons.ts'
import type { ActivityEntry } from './activity-entry.ts'
import { mintActivityId } from './activity-id.ts'
import { entryOfNoCall } from './entry-of-no-call.ts'
import { eventOfReason } from './event-of-reason.ts'

const MINUTE_MS = 60_000
/** The clocks of edges differ, and a write may be delayed. */
const ARRIVAL_MS = 5_000

/** When the entry for the counts of a minute is written. `minute` counts from 1970. */
export const floodDueMs = (minute: number): number => (minute + 1) * MINUTE_MS + ARRIVAL_MS

/** The key of a flood: refusals of one minute, one reason and one agent, null if unknown. */
export interface Flood {
  readonly organization_id: string
  readonly agent_id: string | null
  readonly agent_name: string | null
  readonly reason: string
  readonly minute: number
  readonly suppressed: number
}

/** The entry that represents the counted refusals, at the end of their minute. */
export const floodEntry = (
  { organization_id, agent_id, agent_name, reason, minute, suppressed }: Flood,
  now_ms: number,
): ActivityEntry => ({
  ...entryOfNoCall({
    id: mintActivityId(now_ms),
    event: eventOfReason(reason),
    organization_id,
    agent_id,
    agent_name,
    timestamp: new Date((minute + 1) * MINUTE_MS - 1).toISOString(),
    actor: { source_ip: null, request_id: null, edge_id: null },
    data: { suppressed },
  }),
  decision: 'blocked',
  reason: reason as Reason,
})
