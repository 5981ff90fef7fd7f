import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import type { EventName } from '../../core/catalogue/events.ts'
import { mintActivityId } from '../../core/activity/activity-id.ts'

/** An entry as an edge writes it; a test says what it is about. */
export const activityEntry = (
  event: EventName,
  members: Partial<ActivityEntry> = {},
): ActivityEntry => ({
  id: mintActivityId(Date.now()),
  timestamp: new Date().toISOString(),
  event,
  organization_id: 'org_default',
  agent_id: 'agt_test',
  agent_name: 'test agent',
  key_id: null,
  integration_id: null,
  scope_id: null,
  rule: null,
  method: 'POST',
  endpoint: '/v1/chat/completions',
  status: 403,
  decision: 'blocked',
  reason: null,
  source_ip: '203.0.113.9',
  request_id: null,
  edge_id: null,
  steps: [],
  duration_ms: 1,
  bytes_in: null,
  bytes_out: null,
  data: {},
  ...members,
})
