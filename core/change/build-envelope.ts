import type { ActivityEntry } from '../activity/activity-entry.ts'
import { eventRow } from '../catalogue/events.ts'

/** What a receiver gets. Its JSON is made once, and every attempt sends the same bytes. */
export interface Envelope {
  readonly id: string
  readonly event: string
  readonly timestamp: string
  readonly organization_id: string
  readonly agent_id: string | null
  readonly agent_name: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The envelope of an activity entry; what `data` lacks and the entry has under the same name is taken from there. */
export function buildEnvelope(entry: ActivityEntry): Envelope {
  const { id, event, timestamp, organization_id, agent_id, agent_name } = entry
  const members = Object.keys(eventRow(event)?.delivery?.members ?? {})
  const fromEntry: Readonly<Record<string, unknown>> = {
    endpoint: entry.endpoint,
    source_ip: entry.source_ip,
    suppressed: 0,
  }
  const data = Object.fromEntries(members.map((name) => [name, fromEntry[name] ?? null]))
  for (const [name, value] of Object.entries(entry.data))
    if (value !== undefined) data[name] = value
  return { id, event, timestamp, organization_id, agent_id, agent_name, data }
}
