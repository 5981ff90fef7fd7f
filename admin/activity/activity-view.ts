import { Type } from 'typebox'
import { type ActivityEntry, DECISIONS } from '../../core/activity/activity-entry.ts'
import { EVENT_NAMES } from '../../core/catalogue/events.ts'
import { Nullable, Strict, Timestamp } from '../http/common-schemas.ts'

const Text = Nullable(Type.String())
const Count = Nullable(Type.Number())

export const ActivityView = Strict({
  id: Type.String(),
  timestamp: Timestamp,
  event: Type.Enum([...EVENT_NAMES]),
  organization_id: Type.String(),
  agent_id: Text,
  agent_name: Text,
  key_id: Text,
  integration_id: Text,
  scope_id: Text,
  rule: Count,
  method: Text,
  endpoint: Text,
  status: Count,
  decision: Nullable(Type.Enum([...DECISIONS])),
  reason: Text,
  source_ip: Text,
  request_id: Text,
  edge_id: Text,
  steps: Type.Array(
    Type.Object({ step: Type.String(), outcome: Type.String(), took_us: Type.Number() }),
  ),
  duration_ms: Count,
  bytes_in: Count,
  bytes_out: Count,
  data: Type.Record(Type.String(), Type.Unknown()),
})

/** The members of an entry in their order; also the columns of the CSV export. */
export const ACTIVITY_MEMBERS = Object.keys(
  ActivityView.properties,
) as readonly (keyof ActivityEntry)[]

/** The stored entry with exactly these members; missing ones are null. */
export const activityView = (entry: ActivityEntry): Record<string, unknown> =>
  Object.fromEntries(
    ACTIVITY_MEMBERS.map((name) => [
      name,
      entry[name] ?? (name === 'steps' ? [] : name === 'data' ? {} : null),
    ]),
  )
